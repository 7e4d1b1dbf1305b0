import type { ClientSurface, Surface } from "../domain/model.ts";
import { anthropicMessages } from "./anthropic-messages/protocol.ts";
import { bedrockConverse } from "./bedrock-converse/protocol.ts";
import { googleGemini } from "./google-gemini/protocol.ts";
import { openaiChat } from "./openai-chat/protocol.ts";
import { openaiCompact, openaiResponses } from "./openai-responses/protocol.ts";
import type { UpstreamFormat, WireProtocol } from "./protocol.ts";
import { openaiEmbeddings } from "./untranslated/embeddings.ts";
import { openaiImages } from "./untranslated/images.ts";
import { openaiModerations } from "./untranslated/moderations.ts";
import { rerank } from "./untranslated/rerank.ts";
import { openaiSpeech } from "./untranslated/speech.ts";
import { openaiTranscriptions } from "./untranslated/transcriptions.ts";

/** Every wire format of clients, by its surface. */
export const WIRES: Readonly<Record<ClientSurface, WireProtocol>> = {
  chat: openaiChat,
  messages: anthropicMessages,
  responses: openaiResponses,
  compact: openaiCompact,
  embeddings: openaiEmbeddings,
  rerank,
  moderations: openaiModerations,
  images: openaiImages,
  speech: openaiSpeech,
  transcriptions: openaiTranscriptions,
};

/** Every wire format of upstreams, by its surface. */
export const FORMATS: Readonly<Record<Surface, UpstreamFormat>> = {
  ...WIRES,
  converse: bedrockConverse,
  gemini: googleGemini,
};
