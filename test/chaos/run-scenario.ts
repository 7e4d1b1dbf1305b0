import { type LoadGroup, type LoadRun, startLoadGroup, untilIdle } from "../limiter/chaos/load.ts";
import { type LoadResult, mostAtOnce, mostInAnyMinute, slowestMs } from "../limiter/chaos/load-result.ts";
import { until } from "../support/until.ts";
import type { Scenario, Targets } from "./scenarios.ts";

export const PROCESSES = 4;
export const REQUESTS = 2_400;
export const SLOTS = 40;
const CALLERS = 50;
/** 1.5 times the limit. */
const TRIES_PER_MS = (1.5 * REQUESTS) / 60_000;
/** 40 requests per second of this length use about half of the slots, and all of them after a pause. */
const HOLD_MS = 500;
const PAUSE_MS = (PROCESSES * CALLERS) / TRIES_PER_MS - HOLD_MS;
const SHARED_MAX_MS = 30_000;
/** A lease plus 1 s: after this no slot of a killed process is left. */
const STUCK_MAX_MS = 31_000;

/** The result of a scenario for one `on_failure`. */
export interface Result {
  readonly onFailure: "deny" | "local";
  readonly admitted: number;
  readonly mostInAnyMinute: number;
  /** The maximum of `mostInAnyMinute`. */
  readonly bound: number;
  readonly mostAtOnce: number;
  readonly slowestMs: number;
  /** The longest time after a fault until Redis decided again for every process. */
  readonly sharedAfterMs: number;
  /** Slots that are still taken, without a request, after the time of a lease. */
  readonly stuck: number;
}

/** Runs a scenario for `ms` milliseconds, with processes of both kinds on one Redis. */
export async function runScenario(scenario: Scenario, ms: number): Promise<readonly Result[]> {
  const { location, strike, close } = await scenario.open();
  const kinds = ["deny", "local"] as const;
  const groups = await Promise.all(
    kinds.map((onFailure) => startLoadGroup({ location, onFailure, replicas: PROCESSES })),
  );
  try {
    const accountId = crypto.randomUUID();
    const runs = groups.map((group) => begin(group, accountId));
    const sharedAfterMs = await strikeAgainAndAgain({ scenario, strike, ms }, { groups, accountId }, runs);
    return await Promise.all(
      kinds.map(async (onFailure, index) => {
        const [group, run] = [groups[index], runs[index]];
        if (!group || !run) throw new Error("Each kind has a load group");
        const loadResult = await run.end();
        const stuck = await stuckSlots(group, run);
        return { ...evaluate(loadResult, scenario, onFailure), onFailure, sharedAfterMs, stuck };
      }),
    );
  } finally {
    await Promise.all(groups.map((group) => group.close()));
    await close();
  }
}

function begin(group: LoadGroup, accountId: string): LoadRun {
  const limits = { requestsPerMinute: REQUESTS, concurrentRequests: SLOTS };
  return group.begin({ accountId, limits, callers: CALLERS, holdMs: HOLD_MS, pauseMs: PAUSE_MS });
}

/** Returns the longest time until Redis decided again for every process. */
async function strikeAgainAndAgain(
  {
    scenario,
    strike,
    ms,
  }: { readonly scenario: Scenario; strike(targets: Targets): Promise<void>; readonly ms: number },
  targets: Targets,
  runs: readonly LoadRun[],
): Promise<number> {
  const endMs = performance.now() + ms;
  let slowestMs = 0;
  // The first fault comes when many requests of the minute are counted.
  let nextMs = performance.now() + Math.min(scenario.everyMs, 25_000);
  while (nextMs < endMs) {
    await Bun.sleep(nextMs - performance.now());
    nextMs += scenario.everyMs;
    await strike(targets);
    const overMs = Date.now();
    await until(() => runs.every((run) => isShared(run, overMs)), undefined, SHARED_MAX_MS);
    slowestMs = Math.max(slowestMs, Date.now() - overMs);
  }
  await Bun.sleep(endMs - performance.now());
  return slowestMs;
}

/** Whether Redis has decided for every process since `sinceMs`. */
function isShared(run: LoadRun, sinceMs: number): boolean {
  return run.tallies().every(({ sharedAtMs }) => sharedAtMs > sinceMs);
}

async function stuckSlots(group: LoadGroup, run: LoadRun): Promise<number> {
  await untilIdle(group, run, STUCK_MAX_MS).catch(() => {});
  return (await group.usage(run.names))?.running ?? 0;
}

function evaluate(loadResult: LoadResult, { losesData }: Scenario, onFailure: Result["onFailure"]) {
  const { admissions } = loadResult;
  // A loss of counts admits N more. Processes that decide alone admit N together beside the shared count.
  const bound = REQUESTS * (1 + (losesData ? 1 : 0) + (onFailure === "local" ? 1 : 0));
  return {
    admitted: admissions.length,
    mostInAnyMinute: mostInAnyMinute(admissions),
    bound,
    mostAtOnce: mostAtOnce(admissions),
    slowestMs: slowestMs(loadResult).answer,
  };
}
