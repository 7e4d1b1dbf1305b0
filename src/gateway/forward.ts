import type { Route } from "../domain/model.ts";
import type { Attempt } from "../ledger/ledger.ts";
import { attemptRoute, endedBy, printCall } from "./attempt.ts";
import type { Call, Gateway, Reply } from "./gateway.ts";
import type { OpenHold } from "./hold.ts";
import { failed, type Outcome } from "./request.ts";
import { withRetryAfter } from "./retry-after.ts";
import { createRouteQueue } from "./route-queue.ts";

/** What came of all attempts at one request. */
export interface Answer {
  readonly outcome: Outcome;
  readonly attempts: readonly Attempt[];
}

/**
 * Asks one route after another until one answers, none may be tried or time is up. Only the one that
 * answered is billed. Never rejects: a hold is open.
 */
export async function forward(gateway: Gateway, call: Call, hold: OpenHold, reply: Reply): Promise<Answer> {
  if (hold.quote.request.stream) reply.beginStream();
  const routes = [...hold.quote.ways.keys()];
  const { upstreams } = gateway;
  /** Clock reading by which all attempts must be over; runs from the first. */
  let deadlineAt: number | undefined;
  const queue = createRouteQueue(routes, upstreams);
  const attempts: Attempt[] = [];
  let outcome: Outcome | undefined;
  for (;;) {
    // Between two attempts no upstream is at work.
    const ended = endedBy(gateway, { hold, reply }, false);
    const turn = ended ? undefined : queue.next();
    if (!turn) return { outcome: ended ?? withRetryAfter(outcome ?? unasked(), routes, upstreams), attempts };
    const reader = hold.quote.ways.get(turn.route);
    if (!reader) throw new Error("A route was chosen that cannot be asked");
    const sent = await printCall({ call, reader, hold, turn });
    const startedAt = gateway.clock();
    deadlineAt ??= startedAt + longestTotalMs(gateway, routes);
    const context = { call, reader, hold, reply, turn, sent, startedAt, deadlineAt };
    const tried = await attemptRoute(gateway, context);
    attempts.push(tried.attempt);
    outcome = tried.outcome;
    if (outcome.kind !== "failed" || outcome.isFinal || hold.meter.isShown) {
      return { outcome: withRetryAfter(outcome, routes, upstreams), attempts };
    }
  }
}

/** The outcome of a request for which no route could be asked. */
function unasked(): Outcome {
  return failed("upstream_unavailable");
}

/** The time that all attempts have together. */
function longestTotalMs({ upstreams }: Gateway, routes: readonly Route[]): number {
  return Math.max(...routes.map(({ upstream }) => upstreams.get(upstream)?.timeouts.totalMs ?? 0));
}
