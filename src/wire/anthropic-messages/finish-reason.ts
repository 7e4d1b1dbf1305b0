import type { ChatEvent, FinishEvent, FinishReason } from "../../domain/chat-event.ts";
import { isJsonObject, type JsonObject, readText } from "../json/read.ts";
import { UpstreamFault } from "../upstream-fault.ts";

/**
 * Stop reasons with a neutral counterpart; every other stop reason is an ordinary end.
 *
 * @see https://docs.anthropic.com/en/api/messages
 */
const FINISHES: ReadonlyMap<string, FinishReason> = new Map([
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool_calls"],
  ["refusal", "content_filter"],
]);

/**
 * Reads a stop reason, `undefined` while the message has not finished. Unknown reasons pass, because clients
 * accept those of new models. Throws {@link UpstreamFault} for an error in its place.
 */
export function readStopReason(value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string" || value === "error")
    throw new UpstreamFault("The message ended in an error");
  return value;
}

/** Whether the model or a filter refused. Such a message counts as readable even without text. */
export function isRefusal(stopReason: string | undefined): boolean {
  return stopReason === "refusal";
}

/** Returns the finish event, preceded by the explanation of a refusal. `holder` contains the stop reason. */
export function finishEvents(stopReason: string, holder: JsonObject): readonly ChatEvent[] {
  const finish: FinishEvent = {
    kind: "finish",
    reason: FINISHES.get(stopReason) ?? "stop",
    stopSequence: stopReason === "stop_sequence" ? readText(holder.stop_sequence) || undefined : undefined,
  };
  const details = isRefusal(stopReason) && isJsonObject(holder.stop_details) ? holder.stop_details : {};
  const text = readText(details.explanation);
  return text === "" ? [finish] : [{ kind: "refusal", text }, finish];
}

/**
 * Prints the stop members of a message. An answer that contains a refusal and no calls ends with `refusal`.
 * An answer with calls finishes with `tool_calls` unless it was cut off.
 */
export function printStopReason(finish: FinishEvent, hasRefusal: boolean) {
  const { stopSequence } = finish;
  if (finish.reason === "length") return stopMembers("max_tokens");
  if (finish.reason === "content_filter") return refusalMembers();
  if (finish.reason === "tool_calls") return stopMembers("tool_use");
  if (hasRefusal) return refusalMembers();
  return stopSequence === undefined
    ? stopMembers("end_turn")
    : { ...stopMembers("stop_sequence"), stop_sequence: stopSequence };
}

/** Whether the answer was cut off, so that its last call may be incomplete. */
export function isCutOff({ reason }: FinishEvent): boolean {
  return reason === "length" || reason === "content_filter";
}

function stopMembers(reason: string) {
  return { stop_reason: reason, stop_sequence: null, stop_details: null };
}

function refusalMembers() {
  return {
    ...stopMembers("refusal"),
    stop_details: { type: "refusal", category: null, explanation: null },
  };
}
