import type { ChatEvent, FinishEvent, FinishReason } from "../../domain/chat-event.ts";
import { isJsonObject, type JsonObject, readText } from "../json/read.ts";
import { UpstreamFault } from "../upstream-fault.ts";

/** Anthropic's words; one that is not here stands for an ordinary end. */
const FINISHES: ReadonlyMap<string, FinishReason> = new Map([
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool_calls"],
  ["refusal", "content_filter"],
]);

/**
 * Why a message finished, `undefined` while it has not. New reasons come with new models and clients take
 * them as they are, so the word is not judged. Throws {@link UpstreamFault} for an error in its place.
 */
export function readStopReason(value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string" || value === "error")
    throw new UpstreamFault("The message ended in an error");
  return value;
}

/** A refusal is readable though it may hold no text. */
export function isRefusal(stopReason: string | undefined): boolean {
  return stopReason === "refusal";
}

/** The finish, behind the explanation of a refusal if there is one. `said` is what holds the stop reason. */
export function finishEvents(stopReason: string, said: JsonObject): readonly ChatEvent[] {
  const finish: FinishEvent = {
    kind: "finish",
    reason: FINISHES.get(stopReason) ?? "stop",
    stopSequence: stopReason === "stop_sequence" ? readText(said.stop_sequence) || undefined : undefined,
  };
  const details = isRefusal(stopReason) && isJsonObject(said.stop_details) ? said.stop_details : {};
  const text = readText(details.explanation);
  return text === "" ? [finish] : [{ kind: "refusal", text }, finish];
}
