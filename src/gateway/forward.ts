import type { Route } from "../domain/model.ts";
import type { Attempt } from "../ledger/ledger.ts";
import { attemptRoute, endedBy } from "./attempt.ts";
import type { Call, Gateway, Reply } from "./gateway.ts";
import type { OpenHold } from "./hold.ts";
import { failed, type Outcome } from "./outcome.ts";
import { withRetryAfter } from "./retry-after.ts";
import { createRouteQueue } from "./route.ts";

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
  let startedAt = gateway.clock();
  const deadlineAt = startedAt + longestTotalMs(gateway, routes);
  const queue = createRouteQueue(routes, upstreams);
  const attempts: Attempt[] = [];
  let outcome = failed("upstream_unavailable");
  for (;;) {
    // Between two attempts no upstream is at work.
    const ended = endedBy(gateway, { hold, reply }, false);
    const turn = ended ? undefined : queue.next();
    if (!turn) return { outcome: ended ?? withRetryAfter(outcome, routes, upstreams), attempts };
    const dialogue = hold.quote.ways.get(turn.route);
    if (!dialogue) throw new Error("A route was chosen that cannot be asked");
    const tried = await attemptRoute(gateway, { call, dialogue, hold, reply, turn, startedAt, deadlineAt });
    attempts.push(tried.attempt);
    outcome = tried.outcome;
    if (outcome.kind !== "failed" || outcome.isFinal || hold.meter.isShown) {
      return { outcome: withRetryAfter(outcome, routes, upstreams), attempts };
    }
    startedAt = gateway.clock();
  }
}

/** The time that all attempts have together. */
function longestTotalMs({ upstreams }: Gateway, routes: readonly Route[]): number {
  return Math.max(...routes.map(({ upstream }) => upstreams.get(upstream)?.timeouts.totalMs ?? 0));
}
