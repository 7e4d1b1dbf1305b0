import type { Route } from "../domain/model.ts";
import type { Cause } from "../errors.ts";
import type { Attempt } from "../ledger/ledger.ts";
import type { UpstreamCall } from "../upstream/upstream.ts";
import { allowHeaderBetas } from "../wire/anthropic-messages/betas.ts";
import type { AnswerReader } from "../wire/codec-session.ts";
import { UpstreamFault, type WireProtocol } from "../wire/protocol.ts";
import type { Call, Gateway, Reply } from "./gateway.ts";
import type { OpenHold } from "./hold.ts";
import { printOptionsFor } from "./print-options.ts";
import { promptTooLong, readRefusal } from "./refusal.ts";
import { relay } from "./relay.ts";
import { reportAttempt } from "./report-attempt.ts";
import { failed, type Outcome } from "./request.ts";
import type { Turn } from "./route-queue.ts";
import { type Timeout, type Watch, watchAttempt } from "./timeouts.ts";
import { printCallBody } from "./upstream-call.ts";

/** What one attempt takes. */
export interface AttemptContext {
  readonly call: Call;
  readonly hold: OpenHold;
  readonly reply: Reply;
  readonly turn: Turn;
  /** How the upstream's answers are read for the client. */
  readonly reader: AnswerReader;
  /** What is sent, or why that could not be printed. */
  readonly sent: UpstreamCall | Unprinted;
  /** Clock reading. */
  readonly startedAt: number;
  /** Clock reading by which the request must be over. */
  readonly deadlineAt: number;
}

/** A call that could not be printed, which is no upstream's fault. */
interface Unprinted {
  readonly fault: unknown;
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
  const { call, reader, hold, reply, turn, sent } = context;
  let status = 0;
  if ("fault" in sent) {
    return { outcome: failed("internal", { reason: sent.fault, isFinal: true }), status };
  }
  try {
    const answer = await turn.upstream.send(sent, watch);
    status = answer.status;
    if (!answer.ok) return { outcome: await readRefusal(answer, context, watch), status };
    const onOutput = turn.trial.began;
    const outcome = await relay(gateway, answer, { call, reader, hold, watch, reply, onOutput });
    return { outcome, status };
  } catch (fault) {
    watch.abort();
    return { outcome: outcomeOf(fault, { watch, gateway, context, status }), status };
  }
}

/** Prints what a route is sent, before its time runs. Never rejects. */
export async function printCall({
  call,
  reader,
  hold: { quote, body },
  turn: { route, upstream },
}: Pick<AttemptContext, "call" | "reader" | "hold" | "turn">): Promise<UpstreamCall | Unprinted> {
  const { wire, isVerbatim } = reader;
  const options = printOptionsFor(quote, route, upstream);
  try {
    return {
      surface: wire.surface,
      path: wire.upstreamPath,
      body: await printCallBody(() => body.print(wire.surface, options)),
      stream: quote.request.stream,
      headers: isVerbatim ? headersFor(wire, call, route) : wire.headers,
      query: isVerbatim ? call.query : "",
    };
  } catch (fault) {
    return { fault };
  }
}

/** The client's own headers, with the betas that the operator allows on the route. */
export function headersFor(wire: WireProtocol, { headers }: Call, route: Route): Record<string, string> {
  const all = { ...wire.headers, ...headers };
  const betas = headers["anthropic-beta"];
  if (betas === undefined) return all;
  const allowed = allowHeaderBetas(betas, route.betas);
  const { "anthropic-beta": _, ...others } = all;
  return allowed === "" ? others : { ...all, "anthropic-beta": allowed };
}

const TIMEOUT_CAUSES: Record<Timeout, Cause> = {
  connect: "upstream_unavailable",
  first_output: "upstream_timeout",
  idle: "upstream_timeout",
  total: "upstream_total_timeout",
  deadline: "upstream_total_timeout",
};

interface Ended {
  readonly watch: Watch;
  readonly gateway: Gateway;
  readonly context: AttemptContext;
  /** The status that the upstream answered with; 0 when none came. */
  readonly status: number;
}

function outcomeOf(fault: unknown, { watch, gateway, context, status }: Ended): Outcome {
  const { timedOut } = watch;
  if (timedOut) {
    const isFinal = gateway.clock() >= context.deadlineAt;
    return failed(TIMEOUT_CAUSES[timedOut], { reason: fault, isFinal });
  }
  return (
    endedBy(gateway, context, watch.isSent && !isRefusal(status)) ??
    refusalIn(fault, context) ??
    failed("upstream_unavailable", { reason: fault })
  );
}

/** A refusal that came inside of an answer; behind output it is none. */
function refusalIn(fault: unknown, { hold }: AttemptContext): Outcome | undefined {
  const tooLong = fault instanceof UpstreamFault && !hold.meter.hasOutput ? fault.promptTooLong : undefined;
  return tooLong && { kind: "failed", error: promptTooLong(tooLong.tokens, hold), isFinal: true };
}

function isRefusal(status: number): boolean {
  return status >= 300;
}

/** What ends a request from outside, if anything has; `isSent` as in {@link Outcome}. */
export function endedBy(
  { shutdown }: Gateway,
  { hold: { caller }, reply: { signal } }: Pick<AttemptContext, "hold" | "reply">,
  isSent: boolean,
): Outcome | undefined {
  if (signal.aborted) return { kind: "hung_up", isSent };
  if (caller.ended) return { kind: "revoked", error: caller.ended, isSent };
  return shutdown.aborted ? failed("shutting_down", { isFinal: true }) : undefined;
}
