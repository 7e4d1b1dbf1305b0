import type { Surface } from "../domain/model.ts";
import { anthropicMessages } from "./anthropic-messages/protocol.ts";
import { openaiChat } from "./openai-chat/protocol.ts";
import { openaiEmbeddings } from "./openai-embeddings/protocol.ts";
import { openaiResponses } from "./openai-responses/protocol.ts";
import type { WireProtocol } from "./protocol.ts";

/** Every wire format, by its surface. */
export const WIRES: Readonly<Record<Surface, WireProtocol>> = {
  chat: openaiChat,
  messages: anthropicMessages,
  responses: openaiResponses,
  embeddings: openaiEmbeddings,
};
