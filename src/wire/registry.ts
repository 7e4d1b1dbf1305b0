import type { ClientSurface, Surface } from "../domain/model.ts";
import { anthropicMessages } from "./anthropic-messages/format.ts";
import { bedrockConverse } from "./bedrock-converse/format.ts";
import { cohereEmbeddings, titanEmbeddings } from "./embeddings/bedrock.ts";
import { geminiEmbeddings, vertexEmbeddings } from "./embeddings/google.ts";
import type { UpstreamFormat, WireFormat } from "./format.ts";
import { googleGemini } from "./google-gemini/format.ts";
import { openaiChat } from "./openai-chat/format.ts";
import { openaiCompact, openaiResponses } from "./openai-responses/format.ts";
import { openaiEmbeddings } from "./untranslated/embeddings.ts";
import { openaiImageEdits, openaiImageVariations } from "./untranslated/image-forms.ts";
import { openaiImages } from "./untranslated/images.ts";
import { openaiModerations } from "./untranslated/moderations.ts";
import { rerank } from "./untranslated/rerank.ts";
import { openaiSpeech } from "./untranslated/speech.ts";
import { openaiTranscriptions, openaiTranslations } from "./untranslated/transcriptions.ts";

/** Every wire format of clients, by its surface. */
export const WIRES: Readonly<Record<ClientSurface, WireFormat>> = {
  chat: openaiChat,
  messages: anthropicMessages,
  responses: openaiResponses,
  gemini: googleGemini,
  compact: openaiCompact,
  embeddings: openaiEmbeddings,
  rerank,
  moderations: openaiModerations,
  images: openaiImages,
  image_edits: openaiImageEdits,
  image_variations: openaiImageVariations,
  speech: openaiSpeech,
  transcriptions: openaiTranscriptions,
  translations: openaiTranslations,
};

/** Every wire format of upstreams, by its surface. */
export const FORMATS: Readonly<Record<Surface, UpstreamFormat>> = {
  ...WIRES,
  converse: bedrockConverse,
  gemini_embeddings: geminiEmbeddings,
  vertex_embeddings: vertexEmbeddings,
  titan_embeddings: titanEmbeddings,
  cohere_embeddings: cohereEmbeddings,
};
