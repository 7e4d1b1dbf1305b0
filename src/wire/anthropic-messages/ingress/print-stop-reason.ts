import type { FinishEvent } from "../../../domain/chat-event.ts";

/**
 * Why a message ended, in Anthropic's words: one of them is for an answer that holds a refusal and no calls. An
 * answer with calls has a finish that says so, unless it was cut off.
 */
export function printStopReason(finish: FinishEvent, hasRefusal: boolean) {
  const { stopSequence } = finish;
  if (finish.reason === "length") return said("max_tokens");
  if (finish.reason === "content_filter") return refused();
  if (finish.reason === "tool_calls") return said("tool_use");
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
