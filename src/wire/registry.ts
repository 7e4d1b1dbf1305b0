import type { ClientSurface, Surface } from "../domain/model.ts";
import { anthropicMessages } from "./anthropic-messages/protocol.ts";
import { bedrockConverse } from "./bedrock-converse/protocol.ts";
import { googleGemini } from "./google-gemini/protocol.ts";
import { openaiChat } from "./openai-chat/protocol.ts";
import { openaiEmbeddings } from "./openai-embeddings/protocol.ts";
import { openaiResponses } from "./openai-responses/protocol.ts";
import type { UpstreamFormat, WireProtocol } from "./protocol.ts";

/** Every wire format of clients, by its surface. */
export const WIRES: Readonly<Record<ClientSurface, WireProtocol>> = {
  chat: openaiChat,
  messages: anthropicMessages,
  responses: openaiResponses,
  embeddings: openaiEmbeddings,
};

/** Every wire format of upstreams, by its surface. */
export const FORMATS: Readonly<Record<Surface, UpstreamFormat>> = {
  ...WIRES,
  converse: bedrockConverse,
  gemini: googleGemini,
};
