import { type LoadGroup, type LoadRun, startLoadGroup, untilIdle } from "../limiter/chaos/load.ts";
import { type LoadResult, mostAtOnce, mostInAnyMinute, slowestMs } from "../limiter/chaos/load-result.ts";
import { until } from "../limiter/redis-client.ts";
import type { Scenario, Victims } from "./scenarios.ts";

export const PROCESSES = 4;
export const REQUESTS = 2_400;
export const SLOTS = 40;
const CALLERS = 50;
/** Half as many again are asked for as are admitted. */
const TRIES_PER_MS = (1.5 * REQUESTS) / 60_000;
/** 40 a second for so long: about half of the slots, and all of them after a pause. */
const HOLD_MS = 500;
const PAUSE_MS = (PROCESSES * CALLERS) / TRIES_PER_MS - HOLD_MS;
const SHARED_MAX_MS = 30_000;
/** As long as a lease, and a second: then nothing of a killed process is left. */
const STUCK_MAX_MS = 31_000;

/** What a scenario came to under one `on_failure`. */
export interface Result {
  readonly onFailure: "deny" | "local";
  readonly admitted: number;
  readonly mostInAnyMinute: number;
  /** That many it may be. */
  readonly bound: number;
  readonly mostAtOnce: number;
  readonly slowestMs: number;
  /** The longest time after a strike until Redis decided for each process again. */
  readonly sharedAfterMs: number;
  /** Slots that nobody runs in, and that are still taken after the time of a lease. */
  readonly stuck: number;
}

/** Plays a scenario for so long, with processes of each kind on the same Redis. */
export async function play(scenario: Scenario, ms: number): Promise<readonly Result[]> {
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
        if (!group || !run) throw new Error("Each kind has a group");
        const loadResult = await run.end();
        const stuck = await stuckSlots(group, run);
        return { ...checker(loadResult, scenario, onFailure), onFailure, sharedAfterMs, stuck };
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

/** Returns the longest time that it took until all were shared again. */
async function strikeAgainAndAgain(
  {
    scenario,
    strike,
    ms,
  }: { readonly scenario: Scenario; strike(victims: Victims): Promise<void>; readonly ms: number },
  victims: Victims,
  runs: readonly LoadRun[],
): Promise<number> {
  const endMs = performance.now() + ms;
  let slowestMs = 0;
  // The first one comes when a good part of a minute's requests is counted.
  let nextMs = performance.now() + Math.min(scenario.everyMs, 25_000);
  while (nextMs < endMs) {
    await Bun.sleep(nextMs - performance.now());
    nextMs += scenario.everyMs;
    await strike(victims);
    const overMs = Date.now();
    await until(() => runs.every((run) => isShared(run, overMs)), SHARED_MAX_MS);
    slowestMs = Math.max(slowestMs, Date.now() - overMs);
  }
  await Bun.sleep(endMs - performance.now());
  return slowestMs;
}

/** Whether Redis has decided for each process since then. */
function isShared(run: LoadRun, sinceMs: number): boolean {
  return run.tallies().every(({ sharedAtMs }) => sharedAtMs > sinceMs);
}

async function stuckSlots(group: LoadGroup, run: LoadRun): Promise<number> {
  await untilIdle(group, run, STUCK_MAX_MS).catch(() => {});
  return (await group.usage(run.names))?.running ?? 0;
}

function checker(loadResult: LoadResult, { losesData }: Scenario, onFailure: Result["onFailure"]) {
  const { admissions } = loadResult;
  // A loss lets N in once more, and alone all processes together have N beside what is shared.
  const bound = REQUESTS * (1 + (losesData ? 1 : 0) + (onFailure === "local" ? 1 : 0));
  return {
    admitted: admissions.length,
    mostInAnyMinute: mostInAnyMinute(admissions),
    bound,
    mostAtOnce: mostAtOnce(admissions),
    slowestMs: slowestMs(loadResult).answer,
  };
}
