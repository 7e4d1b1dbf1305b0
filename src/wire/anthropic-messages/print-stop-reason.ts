import type { FinishEvent } from "../../domain/chat-event.ts";

/** What else an answer holds that its stop reason must speak of. */
interface Held {
  readonly hasCalls: boolean;
  readonly hasRefusal: boolean;
}

/**
 * Why a message ended, in Anthropic's words. Clients run tools on the word `tool_use` only, so an answer
 * with calls that was not cut off says so whatever its upstream said.
 */
export function printStopReason(finish: FinishEvent, { hasCalls, hasRefusal }: Held) {
  const { stopSequence } = finish;
  if (finish.reason === "length") return said("max_tokens");
  if (finish.reason === "content_filter") return refused();
  if (hasCalls) return said("tool_use");
  if (hasRefusal) return refused();
  return stopSequence === undefined
    ? said("end_turn")
    : { ...said("stop_sequence"), stop_sequence: stopSequence };
}

function said(reason: string) {
  return { stop_reason: reason, stop_sequence: null, stop_details: null };
}

function refused() {
  return { ...said("refusal"), stop_details: { type: "refusal", category: null, explanation: null } };
}

/** Whether an answer was cut off, so that the call it was in may be half. */
export function isCut({ reason }: FinishEvent): boolean {
  return reason === "length" || reason === "content_filter";
}
