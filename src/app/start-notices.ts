import { startWebhookWorker } from "../delivery/webhook-worker.ts";
import type { ConsoleParts } from "../http/console/console-parts.ts";
import type { AttemptTotals } from "../notices/upstream-attempts.ts";
import { startNoticeWatch } from "../notices/watch.ts";
import type { CountedUpstreams } from "../telemetry/upstream-metrics.ts";

type UpstreamCounts = Pick<CountedUpstreams, "attempts">;

/** Starts watching the thresholds of notices, and calling webhooks. */
export function startNotices(parts: ConsoleParts, upstreams: UpstreamCounts) {
  const { database, settings, log } = parts;
  const allowsLoopback = settings.allowsLoopbackWebhooks ?? false;
  const watch = startNoticeWatch({ ...parts, attempts: () => countAttempts(upstreams.attempts()) });
  const webhooks = startWebhookWorker({ database, log, allowsLoopback });
  return {
    wake: webhooks.wake,
    close: async () => void (await Promise.all([watch.close(), webhooks.close()])),
  };
}

/** Outcomes that an upstream is to blame for. */
const FAILURES = ["upstream_unavailable", "upstream_timeout"];

function countAttempts(byUpstream: ReturnType<UpstreamCounts["attempts"]>): AttemptTotals {
  const counts = [...byUpstream].map(([upstream, outcomes]) => {
    const attempts = [...outcomes.values()].reduce((sum, count) => sum + count, 0);
    const failed = FAILURES.reduce((sum, outcome) => sum + (outcomes.get(outcome) ?? 0), 0);
    return [upstream, { attempts, failed }] as const;
  });
  return new Map(counts);
}
