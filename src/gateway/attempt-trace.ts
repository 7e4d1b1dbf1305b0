import type { TraceContext } from "../domain/trace-context.ts";
import { inputTokensOf } from "../domain/usage.ts";
import type { Attempt } from "../ledger/records.ts";
import type { AttemptTrace, TraceFacts, TraceFailure } from "../telemetry/request-trace.ts";
import type { UpstreamCall } from "../upstream/upstream.ts";
import { type Candidate, type HeldRequest, type Outcome, outcomeName } from "./request.ts";
import type { Unprinted } from "./upstream-call.ts";

/** One attempt at a candidate. */
interface Traced {
  readonly held: HeldRequest;
  readonly candidate: Candidate;
}

/** Begins the trace of an attempt; `undefined` when the request is not followed. */
export function beginAttemptTrace({ held, candidate }: Traced): AttemptTrace | undefined {
  return held.call.trace?.attempt(`${operationOf(candidate)} ${candidate.route.upstreamModel}`);
}

/** Adds the headers by which the upstream continues the trace. */
export function withTraceHeaders(
  prepared: UpstreamCall | Unprinted,
  { traceparent, tracestate }: TraceContext,
): UpstreamCall | Unprinted {
  if ("fault" in prepared) return prepared;
  const headers = { ...prepared.headers, traceparent, ...(tracestate && { tracestate }) };
  return { ...prepared, headers };
}

/** Ends the trace of an attempt. Reads the texts of prompt and answer only where content is switched on. */
export async function endAttemptTrace(
  trace: AttemptTrace,
  { held, candidate }: Traced,
  { outcome, attempt }: { readonly outcome: Outcome; readonly attempt: Pick<Attempt, "status"> },
): Promise<void> {
  const { route, upstream } = candidate;
  const facts: TraceFacts = {
    upstream: upstream.name,
    serverAddress: upstream.address?.host,
    serverPort: upstream.address?.port,
    operation: operationOf(candidate),
    provider: upstream.provider,
    model: route.upstreamModel,
    maxTokens: held.quote.outputTokensMax,
    status: attempt.status === 0 ? undefined : attempt.status,
    outcome: outcomeName(outcome),
    ...usageFacts(held),
  };
  const content = held.call.trace?.capturesContent ? await contentFacts(held) : {};
  trace.end({ ...facts, ...content }, failureOf(outcome));
}

function operationOf({ codec }: Candidate): string {
  return codec.format.surface === "embeddings" ? "embeddings" : "chat";
}

function usageFacts({ meter }: HeldRequest): TraceFacts {
  const usage = meter.reported();
  if (!usage) return {};
  return {
    inputTokens: inputTokensOf(usage),
    outputTokens: usage.outputTokens,
    cachedInputTokens: usage.cachedInputTokens || undefined,
    cacheWriteTokens: usage.cacheWriteTokens + usage.cacheWrite1hTokens || undefined,
  };
}

async function contentFacts({ body, meter }: HeldRequest): Promise<TraceFacts> {
  try {
    return { prompt: await body.promptText(), answer: meter.generated() };
  } catch {
    // A text that cannot be joined does not belong to the outcome of the attempt.
    return {};
  }
}

/** A disconnect and a revoked key are no faults of the upstream. */
function failureOf(outcome: Outcome): TraceFailure | undefined {
  if (outcome.kind === "finished") return undefined;
  const isFault = outcome.kind === "failed" || outcome.kind === "unrepresentable" || outcome.kind === "empty";
  return { code: outcomeName(outcome), isFault };
}
