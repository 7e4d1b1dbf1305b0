import type { FinishEvent, FinishReason } from "../../domain/chat-event.ts";
import { UpstreamFault } from "../upstream-fault.ts";

/**
 * Stop reasons with a neutral counterpart; every other one is an ordinary end. Converse does not report which
 * stop sequence matched.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */
const FINISHES: ReadonlyMap<string, FinishReason> = new Map([
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool_calls"],
  ["guardrail_intervened", "content_filter"],
  ["content_filtered", "content_filter"],
]);

/** Stop reasons of answers that the model garbled: no client can use them, and another try may succeed. */
const MALFORMED: ReadonlySet<string> = new Set(["malformed_model_output", "malformed_tool_use"]);

/**
 * Reads a stop reason. Throws {@link UpstreamFault} for a missing one and for a malformed answer. Unknown reasons pass, because
 * new models have new ones.
 */
export function readFinish(reason: unknown): FinishEvent {
  if (typeof reason !== "string" || reason === "") throw new UpstreamFault("The answer has no stop reason");
  if (MALFORMED.has(reason)) throw new UpstreamFault("The model's output is malformed");
  return { kind: "finish", reason: FINISHES.get(reason) ?? "stop", stopSequence: undefined };
}
