import type { Cause } from "../errors.ts";
import type { Attempt } from "../ledger/ledger.ts";
import type { UpstreamCall } from "../upstream/upstream.ts";
import type { Dialogue } from "../wire/dialogue.ts";
import { UpstreamFault } from "../wire/wire-protocol.ts";
import type { Call, Gateway, Reply } from "./gateway.ts";
import type { OpenHold } from "./hold.ts";
import { failed, type Outcome } from "./outcome.ts";
import { printOptionsFor } from "./print-options.ts";
import { promptTooLong, readRefusal } from "./refusal.ts";
import { relay } from "./relay.ts";
import { reportAttempt } from "./report-attempt.ts";
import type { Turn } from "./route.ts";
import { type Timeout, type Watch, watchAttempt } from "./watch.ts";

/** What one attempt takes. */
export interface AttemptContext {
  readonly call: Call;
  readonly hold: OpenHold;
  readonly reply: Reply;
  readonly turn: Turn;
  /** How client and upstream come to understand each other. */
  readonly dialogue: Dialogue;
  /** Clock reading. */
  readonly startedAt: number;
  /** Clock reading by which the request must be over. */
  readonly deadlineAt: number;
}

/** What came of one attempt, and its line on the receipt. */
export interface Tried {
  readonly outcome: Outcome;
  readonly attempt: Attempt;
}

/** Asks one route. Never rejects; tells health, metrics and log what it showed of the upstream. */
export async function attemptRoute(gateway: Gateway, context: AttemptContext): Promise<Tried> {
  const { hold, reply, turn, startedAt, deadlineAt } = context;
  const { upstream } = turn;
  const { clock } = gateway;
  const watch = watchAttempt({
    timeouts: upstream.timeouts,
    stream: hold.quote.request.stream,
    startedAt,
    deadlineAt,
    enders: [reply.signal, gateway.shutdown],
    clock,
  });
  hold.caller.cut = watch.abort;
  gateway.metrics.running(upstream.name, 1);
  hold.meter.restart(turn.route);
  const { outcome, status } = await ask(gateway, context, watch);
  watch.close();
  hold.caller.cut = undefined;
  const attempt = { upstream: upstream.name, status, ms: Math.round(clock() - startedAt) };
  reportAttempt(gateway, context, { outcome, attempt, timedOut: watch.timedOut });
  return { outcome, attempt };
}

async function ask(
  gateway: Gateway,
  context: AttemptContext,
  watch: Watch,
): Promise<{ outcome: Outcome; status: number }> {
  const { call, dialogue, hold, reply, turn } = context;
  const { quote, meter } = hold;
  let status = 0;
  let sent: UpstreamCall | undefined;
  try {
    sent = printCall(context);
    const answer = await turn.upstream.send(sent, watch);
    status = answer.status;
    if (!answer.ok) return { outcome: await readRefusal(answer, context, watch), status };
    const onOutput = turn.trial.began;
    return { outcome: await relay(answer, { call, dialogue, quote, meter, watch, reply, onOutput }), status };
  } catch (fault) {
    watch.abort();
    if (sent) return { outcome: outcomeOf(fault, { watch, gateway, context }), status };
    // What could not even be printed is no upstream's fault.
    return { outcome: failed("internal", { reason: fault, isFinal: true }), status };
  }
}

function printCall({ call, dialogue, hold, turn }: AttemptContext): UpstreamCall {
  const { wire, isVerbatim } = dialogue;
  return {
    surface: wire.surface,
    path: wire.upstreamPath,
    body: dialogue.printUpstreamRequest(printOptionsFor(hold.quote, turn.route, turn.upstream)),
    stream: hold.quote.request.stream,
    headers: isVerbatim ? { ...wire.headers, ...call.headers } : wire.headers,
    query: isVerbatim ? call.query : "",
  };
}

const TIMEOUT_CAUSES: Record<Timeout, Cause> = {
  connect: "upstream_unavailable",
  first_output: "upstream_timeout",
  idle: "upstream_timeout",
  total: "upstream_total_timeout",
  deadline: "upstream_total_timeout",
};

function outcomeOf(
  fault: unknown,
  { watch, gateway, context }: { watch: Watch; gateway: Gateway; context: AttemptContext },
): Outcome {
  const { timedOut } = watch;
  if (timedOut) {
    const isFinal = gateway.clock() >= context.deadlineAt;
    return failed(TIMEOUT_CAUSES[timedOut], { reason: fault, isFinal });
  }
  return (
    endedBy(gateway, context.hold, context.reply) ??
    refusalIn(fault, context) ??
    failed("upstream_unavailable", { reason: fault })
  );
}

/** A refusal that came inside of an answer; behind output it is none. */
function refusalIn(fault: unknown, { hold }: AttemptContext): Outcome | undefined {
  const tooLong = fault instanceof UpstreamFault && !hold.meter.hasOutput ? fault.promptTooLong : undefined;
  return tooLong && { kind: "failed", error: promptTooLong(tooLong.tokens, hold), isFinal: true };
}

/** What ends a request from outside, if anything has. */
export function endedBy({ shutdown }: Gateway, { caller }: OpenHold, { signal }: Reply): Outcome | undefined {
  if (signal.aborted) return { kind: "hung_up" };
  if (caller.ended) return { kind: "revoked", error: caller.ended };
  return shutdown.aborted ? failed("shutting_down", { isFinal: true }) : undefined;
}
