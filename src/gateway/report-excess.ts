import { inputTokensOf } from "../domain/usage.ts";
import type { Call, Gateway } from "./gateway.ts";
import type { OpenHold } from "./hold.ts";

/**
 * Logs and counts a reported usage that was cut before it was charged: the provider may bill what its operator does not
 * get from anybody.
 */
export function reportExcess({ log, metrics }: Gateway, { id, record }: Call, { meter }: OpenHold): void {
  const excess = meter.excess();
  if (!excess || !meter.route) return;
  record.aboveBound = true;
  const { upstream, upstreamModel } = meter.route;
  const { reported, bound } = excess;
  const inputTokens = inputTokensOf(reported);
  const { outputTokens } = reported;
  if (inputTokens > bound.inputTokens) metrics.aboveBound(upstream, "input");
  if (outputTokens > bound.outputTokens) metrics.aboveBound(upstream, "output");
  const facts = { request: id, upstream, model: upstreamModel, inputTokens, outputTokens };
  const maxima = { inputTokensMax: bound.inputTokens, outputTokensMax: bound.outputTokens };
  log.error({ ...facts, ...maxima }, "usage above bound");
}
