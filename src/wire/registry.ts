import type { ClientSurface, Surface } from "../domain/model.ts";
import { anthropicMessages } from "./anthropic-messages/protocol.ts";
import { bedrockConverse } from "./bedrock-converse/protocol.ts";
import { googleGemini } from "./google-gemini/protocol.ts";
import { openaiChat } from "./openai-chat/protocol.ts";
import { openaiEmbeddings } from "./openai-embeddings/protocol.ts";
import { openaiImages } from "./openai-images/protocol.ts";
import { openaiModerations } from "./openai-moderations/protocol.ts";
import { openaiCompact } from "./openai-responses/compact.ts";
import { openaiResponses } from "./openai-responses/protocol.ts";
import { openaiSpeech } from "./openai-speech/protocol.ts";
import { openaiTranscriptions } from "./openai-transcriptions/protocol.ts";
import type { UpstreamFormat, WireProtocol } from "./protocol.ts";
import { rerank } from "./rerank/protocol.ts";

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
