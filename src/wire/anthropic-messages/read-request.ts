import type { ChatRequest } from "../../domain/chat-request.ts";
import { GatewayError } from "../../errors.ts";

/** Reads a body in no provider's words. Throws `untranslatable`, naming what no other format can say. */
export function readChatRequest(_text: string): ChatRequest {
  throw new GatewayError("not_built");
}
