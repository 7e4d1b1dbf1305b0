import type { Route } from "../domain/model.ts";
import { type Cause, GatewayError } from "../errors.ts";
import type { Attempt } from "../ledger/ledger.ts";
import { describeFault } from "../telemetry/log.ts";
import type { Upstream, UpstreamCall } from "../upstream/upstream.ts";
import type { Call, Gateway, Reply } from "./gateway.ts";
import type { OpenHold } from "./hold.ts";
import type { Outcome } from "./outcome.ts";
import { readBounded } from "./read-bounded.ts";
import { relay } from "./relay.ts";
import { orderRoutes } from "./route.ts";
import { type Timeout, type Watch, watchAttempt } from "./watch.ts";

/** Enough of a refusal to find the two numbers of a prompt that is too long. */
const REFUSAL_BYTES_MAX = 64 * 1024;

/** What came of all attempts at one request. */
export interface Answer {
  readonly outcome: Outcome;
  readonly attempts: readonly Attempt[];
}

/** Asks one route after another until one answers or none may be tried. Never rejects: a hold is open. */
export async function forward(gateway: Gateway, call: Call, hold: OpenHold, reply: Reply): Promise<Answer> {
  if (hold.quote.request.stream) reply.beginStream();
  const attempts: Attempt[] = [];
  const forwardedAt = gateway.clock();
  let outcome: Outcome | undefined;
  for (const route of orderRoutes(hold.quote.routes, Math.random)) {
    const startedAt = gateway.clock();
    const seen: Seen = { status: 0 };
    outcome = await attemptRoute(gateway, { call, hold, reply, route, seen, forwardedAt });
    attempts.push({
      upstream: route.upstream,
      status: seen.status,
      ms: Math.round(gateway.clock() - startedAt),
    });
    if (outcome.kind !== "failed" || outcome.isFinal || hold.meter.hasOutput) break;
  }
  return { outcome: outcome ?? unavailable(), attempts };
}

/** The one fact of an attempt that outlives its failure. */
interface Seen {
  status: number;
}

interface AttemptContext {
  readonly call: Call;
  readonly hold: OpenHold;
  readonly reply: Reply;
  readonly route: Route;
  readonly seen: Seen;
  /** Clock reading at the first attempt: the total time limit spans them all. */
  readonly forwardedAt: number;
}

async function attemptRoute(gateway: Gateway, context: AttemptContext): Promise<Outcome> {
  const { call, hold, reply, route, seen } = context;
  const upstream = gateway.upstreams.get(route.upstream);
  if (!upstream) return unavailable();
  if (reply.signal.aborted) return { kind: "hung_up" };

  hold.meter.restart(route);
  const { clock } = gateway;
  const watch = watchAttempt({
    timeouts: upstream.timeouts,
    stream: hold.quote.request.stream,
    elapsedMs: clock() - context.forwardedAt,
    clientSignal: reply.signal,
    clock,
  });
  try {
    const answer = await upstream.send(upstreamCall(context, upstream), watch.signal);
    seen.status = answer.status;
    if (!answer.ok) return await readRefusal(answer, context);
    return await relay(answer, { call, quote: hold.quote, meter: hold.meter, watch, reply });
  } catch (fault) {
    watch.abort();
    gateway.log.warn(
      {
        request: call.id,
        upstream: upstream.name,
        status: seen.status,
        timeout: watch.timedOut,
        ...describeFault(fault),
      },
      "attempt failed",
    );
    return failure(fault, watch, reply);
  } finally {
    watch.close();
  }
}

function upstreamCall({ call, hold, route }: AttemptContext, upstream: Upstream): UpstreamCall {
  const { request, ceiling } = hold.quote;
  return {
    protocol: call.wire.protocol,
    path: call.wire.upstreamPath,
    body: call.wire.printUpstreamRequest(request, {
      model: route.upstreamModel,
      outputTokensMax: ceiling,
      outputLimitField: upstream.outputLimitField,
    }),
    stream: request.stream,
    headers: call.headers,
    query: call.query,
  };
}

/** A status other than 2xx: the request's fault on 400 and 422, the route's on all others. */
async function readRefusal(answer: Response, { call, hold }: AttemptContext): Promise<Outcome> {
  const { status } = answer;
  if (status !== 400 && status !== 413 && status !== 422) {
    await answer.body?.cancel();
    return unavailable();
  }
  const text = (await readBounded(answer, REFUSAL_BYTES_MAX)) ?? "";
  const tooLong = call.wire.readPromptTooLong(text);
  const error = tooLong ? promptTooLong(tooLong.tokens, hold) : new GatewayError("rejected_by_upstream");
  return { kind: "failed", error, isFinal: status !== 413 };
}

/** The text is ours and fixed; Claude Code reads its two numbers and compacts the conversation. */
function promptTooLong(tokens: number | undefined, { quote }: OpenHold): GatewayError {
  if (tokens === undefined) return new GatewayError("prompt_too_long");
  const message = `prompt is too long: ${tokens} tokens > ${quote.model.contextWindow} maximum`;
  return new GatewayError("prompt_too_long", { message });
}

const TIMEOUT_CAUSES: Record<Timeout, Cause> = {
  first_output: "upstream_timeout",
  idle: "upstream_timeout",
  total: "upstream_total_timeout",
};

function failure(fault: unknown, watch: Watch, reply: Reply): Outcome {
  if (watch.timedOut) {
    const error = new GatewayError(TIMEOUT_CAUSES[watch.timedOut], { reason: fault });
    return { kind: "failed", error, isFinal: watch.timedOut === "total" };
  }
  return reply.signal.aborted ? { kind: "hung_up" } : unavailable(fault);
}

function unavailable(reason?: unknown): Outcome {
  return { kind: "failed", error: new GatewayError("upstream_unavailable", { reason }), isFinal: false };
}
