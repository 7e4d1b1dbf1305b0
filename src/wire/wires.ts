import type { Surface } from "../domain/model.ts";
import { anthropicMessages } from "./anthropic-messages/protocol.ts";
import { openaiChat } from "./openai-chat/protocol.ts";
import type { WireProtocol } from "./wire-protocol.ts";

/** Every format, by its name. */
export const WIRES: Readonly<Partial<Record<Surface, WireProtocol>>> = {
  chat: openaiChat,
  messages: anthropicMessages,
};
