import { totalTokensOf } from "../domain/usage.ts";
import { type Cause, GatewayError } from "../errors.ts";
import type { Attempt } from "../ledger/records.ts";
import { describeFault, type LogFields } from "../telemetry/log.ts";
import { isFilesUsedUp } from "../telemetry/open-files.ts";
import type { UpstreamCall } from "../upstream/upstream.ts";
import { UpstreamFault } from "../wire/upstream-fault.ts";
import type { Gateway } from "./gateway.ts";
import { estimateInputTokens } from "./quote.ts";
import { type RelayContext, relay } from "./relay.ts";
import { failed, type HeldRequest, type Outcome, outcomeName } from "./request.ts";
import type { RoutePermit } from "./route-queue.ts";
import { AttemptTimeouts, type Timeout } from "./timeouts.ts";
import { beginAttemptTrace, endAttemptTrace, type Unprinted, withTraceHeaders } from "./upstream-call.ts";
import { readUpstreamError, rejectedAsTooLong, wereMetByOnePerson } from "./upstream-error.ts";
import { countAtRoute, type Evidence, endPermit } from "./verdict.ts";

/** Average of ordinary text. */
const CHARS_PER_TOKEN = 4;

/** Codes of faults of a connection that was assumed and did not stand. */
const UNREACHABLE: ReadonlySet<unknown> = new Set(["ConnectionRefused", "ECONNREFUSED", "ENOTFOUND"]);

/** Everything that one attempt needs. */
export interface AttemptContext extends RelayContext, Omit<RoutePermit, "candidate" | "permit"> {
  readonly prepared: UpstreamCall | Unprinted;
  /** Clock reading. */
  readonly startedAt: number;
  /** Clock reading by which the request must be over. */
  readonly deadlineAt: number;
}

/** The outcome of one attempt, and its line on the receipt. */
export interface AttemptResult {
  readonly outcome: Outcome;
  readonly attempt: Attempt;
  /** Whether the host could not be reached: its other keys would fail as well. */
  readonly isUnreachable: boolean;
}

/** The outcome of a call, and the HTTP status of the upstream; 0 when no answer came. */
interface CallResult {
  readonly outcome: Outcome;
  readonly status: number;
  /** Whether an upstream error concerns the key. */
  readonly isOfKey?: boolean;
}

/**
 * Calls one candidate, ends its permit, counts the attempt and logs a failure. Faults of upstream, codec and
 * reply become outcomes.
 */
export async function attemptCandidate(gateway: Gateway, context: AttemptContext): Promise<AttemptResult> {
  const { held, reply, candidate, key, permit, slot, reason, startedAt, deadlineAt } = context;
  const { upstream } = candidate;
  const { clock, timer, metrics } = gateway;
  const timeouts = new AttemptTimeouts({
    timeouts: upstream.timeouts,
    stream: held.quote.request.stream,
    startedAt,
    deadlineAt,
    abortSources: [reply.signal, held.caller, gateway.shutdown],
    clock,
    timer,
  });
  metrics.running(upstream.name, 1, key.label);
  const trace = beginAttemptTrace(context);
  const sentOn = trace ? trace.context : held.call.traceContext;
  const sent = sentOn ? { ...context, prepared: withTraceHeaders(context.prepared, sentOn) } : context;
  const traced = trace?.isRecorded ? { ...sent, trace } : sent;
  try {
    held.meter.restart(candidate);
    const { outcome, status, isOfKey = false } = await callUpstream(gateway, traced, timeouts);
    const ms = clock() - startedAt;
    held.call.progress.waitedMs += ms;
    const attempt = { upstream: upstream.name, key: key.label, reason, status, ms: Math.round(ms) };
    metrics.attempted(upstream.name, outcomeName(outcome), ms, key.label);
    countAtRoute(gateway, context, outcome);
    const { isSent, timedOut } = timeouts;
    const isReached = isSent && !isRefused(outcome);
    slot?.end(isReached ? tokensUsed(held, status) : undefined);
    if (held.plan.model.routeChoice === "fastest") measure(context, timedOut && ms);
    const isUnreachable =
      status === 0 && !isReached && !("fault" in context.prepared) && !lacksFiles(outcome);
    const isOfOnePerson = outcome.kind === "failed" && (await wereMetByOnePerson(gateway, context));
    const isOfPool = key.label !== undefined;
    endPermit(permit, { outcome, status, timedOut, isOfKey, isOfPool, isUnreachable, isOfOnePerson });
    if (outcome.kind === "failed" || outcome.kind === "unrepresentable") {
      logFailure(gateway, context, { error: outcome.error, attempt, timedOut });
    }
    if (trace) await endAttemptTrace(trace, context, { outcome, attempt });
    return { outcome, attempt, isUnreachable };
  } finally {
    timeouts.close();
    // Without effect after an end.
    slot?.end(0);
    metrics.running(upstream.name, -1, key.label);
    // Without effect after a verdict.
    permit.abandoned();
  }
}

/** Whether a connection that was assumed did not stand. */
function isRefused(outcome: Outcome): boolean {
  if (lacksFiles(outcome)) return true;
  const fault = outcome.kind === "failed" ? outcome.error.cause : undefined;
  return fault instanceof Error && "code" in fault && UNREACHABLE.has(fault.code);
}

/** Whether this process had no file for a connection, which says nothing about the upstream. */
function lacksFiles(outcome: Outcome): boolean {
  return outcome.kind === "failed" && outcome.error.kind === "too_many_files";
}

/** The tokens that an attempt counts for in the bounds of its key: as reported, else by the size of the texts. */
function tokensUsed({ meter, quote }: HeldRequest, status: number): number {
  if (status >= 300) return 0;
  const reported = meter.reported();
  if (reported) return totalTokensOf(reported);
  return estimateInputTokens(quote) + Math.ceil(meter.generatedChars / CHARS_PER_TOKEN);
}

/** Records the time to the first output, or how long a timeout waited for it. */
function measure({ held, candidate, key, startedAt }: AttemptContext, waitedMs: number | undefined): void {
  const { firstOutputAt } = held.meter;
  const ms = firstOutputAt === undefined ? waitedMs : firstOutputAt - startedAt;
  if (ms === undefined) return;
  key.times.measured(candidate.route.upstreamModel, held.quote.request.stream, ms);
}

/** Never rejects: every fault becomes an outcome. */
async function callUpstream(
  gateway: Gateway,
  context: AttemptContext,
  timeouts: AttemptTimeouts,
): Promise<CallResult> {
  const { candidate, key, held, prepared } = context;
  let status = 0;
  if ("fault" in prepared) {
    return { outcome: failed("internal", { reason: prepared.fault, isFinal: true }), status };
  }
  try {
    if (held.plan.model.routeChoice === "fastest")
      key.times.tried(candidate.route.upstreamModel, held.quote.request.stream);
    const answer = await key.send(prepared, timeouts);
    status = answer.status;
    if (!answer.ok)
      return {
        ...(await readUpstreamError(answer, context, { timeouts, isOnePerson: gateway.isOnePerson })),
        status,
      };
    return { outcome: await relay(gateway, answer, context, timeouts), status };
  } catch (fault) {
    timeouts.abort();
    return { outcome: outcomeOf(fault, { gateway, context, timeouts, status }), status };
  }
}

const TIMEOUT_CAUSES: Record<Timeout, Cause> = {
  connect: "upstream_unavailable",
  first_output: "upstream_timeout",
  idle: "upstream_timeout",
  total: "upstream_total_timeout",
  deadline: "upstream_total_timeout",
};

interface Failure {
  readonly gateway: Gateway;
  readonly context: AttemptContext;
  readonly timeouts: AttemptTimeouts;
  readonly status: number;
}

/**
 * Chooses the outcome of a fault: a lack of open files, a timeout, an abort, an error event in the answer, or the
 * fault itself.
 */
function outcomeOf(fault: unknown, { gateway, context, timeouts, status }: Failure): Outcome {
  const { timedOut, isSent } = timeouts;
  // Without a free file, a name is not found, or its host seems to refuse the connection.
  const isUnconnected = status === 0 && (!isSent || timedOut === "connect");
  if (isFilesUsedUp(fault) || (isUnconnected && gateway.files.room() <= 0)) {
    const error = new GatewayError("too_many_files", { reason: fault, retryAfterS: 1 });
    return { kind: "failed", error, isFinal: false };
  }
  if (timedOut) {
    const isFinal = gateway.clock() >= context.deadlineAt;
    return failed(TIMEOUT_CAUSES[timedOut], { reason: fault, isFinal });
  }
  const isRejected = status >= 300;
  return (
    endedBy(gateway, context, isSent && !isRejected) ??
    errorInAnswer(fault, context) ??
    failed("upstream_unavailable", { reason: fault })
  );
}

/** Returns the outcome of an abort by client, caller or process; `isSent` as in {@link Outcome}. */
export function endedBy(
  { shutdown }: Gateway,
  { held: { caller }, reply: { signal } }: Pick<AttemptContext, "held" | "reply">,
  isSent: boolean,
): Outcome | undefined {
  if (signal.aborted) return { kind: "client_disconnected", isSent };
  if (caller.ended) return { kind: "revoked", error: caller.ended, isSent };
  return shutdown.aborted ? failed("shutting_down", { isFinal: true }) : undefined;
}

/** Reads an error event inside a 2xx answer. Ignored once output has begun. */
function errorInAnswer(fault: unknown, context: AttemptContext): Outcome | undefined {
  const { held } = context;
  if (!(fault instanceof UpstreamFault) || held.meter.hasOutput) return undefined;
  if (fault.isFlagged) return failed("rejected_by_upstream", { isFinal: true });
  const tooLong = fault.promptTooLong;
  return tooLong && rejectedAsTooLong(tooLong.tokens, context);
}

interface FailedAttempt extends Pick<AttemptResult, "attempt">, Pick<Evidence, "timedOut"> {
  readonly error: GatewayError;
}

/** Logs an attempt that failed, or whose answer the client cannot be sent. */
function logFailure(
  { log }: Gateway,
  { held, candidate: { route } }: AttemptContext,
  { error, attempt, timedOut }: FailedAttempt,
): void {
  const { reason: _, ...tried } = attempt;
  const fields = { request: held.call.id, model: route.upstreamModel, ...tried, cause: error.kind };
  // An invalid request is the client's concern; every other failure is the operator's, as is a small wallet.
  const level = error.row.code === "invalid_request" && attempt.status !== 402 ? "info" : "warn";
  const reason = timedOut ? { timeout: timedOut } : describeReason(error.cause);
  log[level]({ ...fields, ...reason }, "attempt failed");
}

/** Describes a failed call for the log, without its stack, which is always one of few. */
export function describeReason(fault: unknown): LogFields {
  if (fault === undefined) return {};
  const { at: _, ...described } = describeFault(fault);
  // The message of an `UpstreamFault` is our own fixed text.
  return fault instanceof UpstreamFault ? { ...described, why: fault.message } : described;
}
