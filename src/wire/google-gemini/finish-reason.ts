import type { FinishEvent, FinishReason } from "../../domain/chat-event.ts";

/**
 * Finish reasons with a neutral counterpart; every other reason is an ordinary end. An answer that the model
 * broke off, such as by a malformed call, is reported as cut off: it is not complete.
 *
 * @see https://ai.google.dev/api/generate-content#FinishReason
 */
const FINISHES: ReadonlyMap<unknown, FinishReason> = new Map([
  ["MAX_TOKENS", "length"],
  ["CONTINUATION", "length"],
  ["MALFORMED_FUNCTION_CALL", "length"],
  ["MALFORMED_RESPONSE", "length"],
  ["UNEXPECTED_TOOL_CALL", "length"],
  ["TOO_MANY_TOOL_CALLS", "length"],
  ["MISSING_THOUGHT_SIGNATURE", "length"],
  ["OTHER", "length"],
  ["SAFETY", "content_filter"],
  ["RECITATION", "content_filter"],
  ["LANGUAGE", "content_filter"],
  ["BLOCKLIST", "content_filter"],
  ["PROHIBITED_CONTENT", "content_filter"],
  ["SPII", "content_filter"],
  ["MODEL_ARMOR", "content_filter"],
  ["IMAGE_SAFETY", "content_filter"],
  ["IMAGE_PROHIBITED_CONTENT", "content_filter"],
  ["IMAGE_RECITATION", "content_filter"],
]);

/** Returns the finish of a candidate; `undefined` while it has not finished. */
export function readFinish(reason: unknown): FinishEvent | undefined {
  const isUnset = typeof reason !== "string" || reason === "" || reason === "FINISH_REASON_UNSPECIFIED";
  return isUnset ? undefined : finishOf(FINISHES.get(reason) ?? "stop");
}

/** The finish of an answer to a prompt that a filter blocked. */
export const BLOCKED: FinishEvent = finishOf("content_filter");

/** Gemini does not report which stop sequence matched. */
function finishOf(reason: FinishReason): FinishEvent {
  return { kind: "finish", reason, stopSequence: undefined };
}

/** Prints a finish. An answer with a refusal ends as one that a filter stopped, unless it was cut off. */
export function printFinish({ reason }: FinishEvent, hasRefusal: boolean): string {
  if (reason === "length") return "MAX_TOKENS";
  const isRefused = hasRefusal && reason !== "tool_calls";
  return reason === "content_filter" || isRefused ? "SAFETY" : "STOP";
}
