import type { FinishEvent } from "../../domain/chat-event.ts";
import { UpstreamFault } from "../upstream-fault.ts";

/**
 * The finish reasons that clients know.
 *
 * @see https://platform.openai.com/docs/api-reference/chat
 */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "function_call";

/** Finish reasons of all hosts, in lower case, and the reason that clients receive. */
const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ["stop", "stop"],
  ["end_turn", "stop"],
  ["eos", "stop"],
  ["eos_token", "stop"],
  ["stop_sequence", "stop"],
  ["complete", "stop"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["model_length", "length"],
  ["tool_calls", "tool_calls"],
  ["tool_use", "tool_calls"],
  ["function_call", "function_call"],
  ["content_filter", "content_filter"],
  ["content_filtered", "content_filter"],
  ["refusal", "content_filter"],
  ["safety", "content_filter"],
  ["recitation", "content_filter"],
  ["blocklist", "content_filter"],
  ["prohibited_content", "content_filter"],
  ["spii", "content_filter"],
]);

/**
 * Returns why a choice finished; `undefined` while it has not. A `stop` after tool calls becomes
 * `tool_calls`, or the client would not run the tools. Throws {@link UpstreamFault} for an unknown reason.
 */
export function readFinishReason(value: unknown, calledTools: boolean): FinishReason | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  const reason = typeof value === "string" ? FINISH_REASONS.get(value.toLowerCase()) : undefined;
  if (reason === undefined) throw new UpstreamFault("The finish reason is unknown");
  return reason === "stop" && calledTools ? "tool_calls" : reason;
}

/** Returns the neutral finish event. Hosts do not report which stop sequence matched. */
export function finishEvent(reason: FinishReason): FinishEvent {
  const neutral = reason === "function_call" ? "tool_calls" : reason;
  return { kind: "finish", reason: neutral, stopSequence: undefined };
}
