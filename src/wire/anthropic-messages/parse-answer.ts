import { ANSWER_MAX, isJsonObject, type JsonObject, parseJsonObject } from "../json/read.ts";
import { UpstreamFault } from "../protocol.ts";
import { readStopReason } from "./finish-reason.ts";

/** A whole message that is complete. */
export interface Message {
  readonly body: JsonObject;
  /** Its content; what is no block is left out. */
  readonly blocks: readonly JsonObject[];
  readonly stopReason: string;
}

/** Throws {@link UpstreamFault} for what is no message, or one that does not say why it ended. */
export function parseMessage(text: string): Message {
  const body = parseJsonObject(text, ANSWER_MAX);
  if (body === undefined || body.error || body.type === "error" || !Array.isArray(body.content)) {
    throw new UpstreamFault("The answer is no message");
  }
  const stopReason = readStopReason(body.stop_reason);
  if (stopReason === undefined) throw new UpstreamFault("The message has no stop reason");
  return { body, blocks: body.content.filter(isJsonObject), stopReason };
}
