import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RedisServer, startRedisServer } from "../../support/redis-server.ts";
import { until } from "../../support/until.ts";
import type { Tally } from "./commands.ts";
import { FAULTS } from "./faults.ts";
import { type LoadGroup, type LoadRequest, type LoadRun, startLoadGroup, untilIdle } from "./load.ts";
import {
  beyondShare,
  declinedFor,
  type LoadResult,
  mostAtOnce,
  ofProcess,
  shorten,
  slowestMs,
} from "./load-result.ts";

const PROCESSES = 4;
const REQUESTS = 400;
const SLOTS = 32;
/** More than the slots admit, which is 530 a second. */
const LOAD: LoadRequest = {
  limits: { requestsPerMinute: REQUESTS, concurrentRequests: SLOTS },
  callers: 200,
  holdMs: 60,
  pauseMs: 400,
};
/** More than the timeout of Redis on a busy machine, and less than the timeout of a command. */
const SLOWEST_MS = 1_900;
/** Less than the lease of 30 s, after which a slot would be free in any case. */
const IDLE_MS = 25_000;
/** After this time without an admission no more are possible. */
const QUIET_MS = 500;

let server: RedisServer;
let groups: Record<"denying" | "local" | "alone", LoadGroup>;
/** Takes longer than all other tests together. */
let kill: Promise<Kill>;
beforeAll(async () => {
  kill = killOne();
  // It is awaited in the last test.
  kill.catch(() => {});
  server = await startRedisServer();
  const { location } = server;
  const [denying, local, alone] = await Promise.all([
    startLoadGroup({ location, onFailure: "deny", replicas: PROCESSES }),
    startLoadGroup({ location, onFailure: "local", replicas: PROCESSES }),
    startLoadGroup({ location, onFailure: "local", replicas: 1 }),
  ]);
  groups = { denying, local, alone };
});
afterAll(async () => {
  await Promise.all(Object.values(groups).map((group) => group.close()));
  await server.stop();
});

type LoadResults = Record<keyof typeof groups, LoadResult>;

/**
 * Runs the load in all groups, each for its own key, until no more is admitted. Strikes after a quarter of
 * it.
 */
async function load(strike: () => Promise<void> = async () => undefined): Promise<LoadResults> {
  const entries = Object.entries(groups).map(([name, group]) => ({ name, group, run: group.begin(LOAD) }));
  const runs = entries.map(({ run }) => run);
  await until(() => runs.every((run) => run.admitted() >= REQUESTS / 4));
  await strike();
  await untilQuiet(runs);
  // Waits until every process uses Redis again.
  await until(() => runs.every((run) => run.tallies().every(isShared)));
  const ended = entries.map(async ({ name, group, run }) => {
    const loadResult = await run.end();
    // No slot is stuck: pending releases are sent at once.
    await untilIdle(group, run, IDLE_MS);
    return [name, loadResult];
  });
  return Object.fromEntries(await Promise.all(ended));
}

function isShared({ sharedAtMs, unsharedAtMs }: Tally): boolean {
  return sharedAtMs > unsharedAtMs;
}

/** Resolves when every process had an answer of Redis long enough after the last admission of any process. */
async function untilQuiet(runs: readonly LoadRun[]): Promise<void> {
  let seen = -1;
  let sinceMs = 0;
  await until(() => {
    const admitted = runs.reduce((sum, run) => sum + run.admitted(), 0);
    if (admitted !== seen) sinceMs = Date.now();
    seen = admitted;
    const tallies = runs.flatMap((run) => run.tallies());
    return tallies.every((tally) => tally.sharedAtMs > sinceMs + QUIET_MS);
  });
}

/** Expectations under every fault. `outages` is the least number of outages of each process. */
function expectEach(results: LoadResults, outages: number): void {
  for (const loadResult of Object.values(results)) {
    // One line and one change of the metric for each change of state. A busy machine adds outages of its own,
    // and the load may begin or end within one of them.
    for (const { logged, shared } of loadResult.reports) {
      const events = logged.map(shorten);
      expect(events.filter((word) => word === "away").length).toBeGreaterThanOrEqual(outages);
      const isFirstAway = events[0] === "away";
      expect(events).toEqual(events.map((_, index) => ((index % 2 === 0) === isFirstAway ? "away" : "back")));
      expect(Object.values(shared)).toEqual([events.map((word) => word === "back")]);
    }
    const { answer, end } = slowestMs(loadResult);
    expect(answer).toBeLessThan(SLOWEST_MS);
    expect(end).toBeLessThan(SLOWEST_MS);
    expect(declinedFor(loadResult, "rate")).toBeGreaterThan(0);
  }
  for (let process = 0; process < PROCESSES; process += 1) {
    expect(beyondShare(ofProcess(results.local, process), REQUESTS / PROCESSES)).toBe(0);
  }
  expect(beyondShare(results.alone.admissions, REQUESTS)).toBe(0);
}

/** Expectations while Redis keeps its data: N are admitted, and never more at once than there are slots. */
function expectExact({ denying, local, alone }: LoadResults): void {
  for (const { admissions } of [denying, alone]) {
    expect(admissions).toHaveLength(REQUESTS);
    expect(mostAtOnce(admissions)).toBeLessThanOrEqual(SLOTS);
  }
  // Each local limiter has its own share, even when other processes have exceeded theirs before.
  expect(local.admissions.length).toBeWithin(REQUESTS, 2 * REQUESTS + 1);
  expect(mostAtOnce(local.admissions)).toBeLessThanOrEqual(2 * SLOTS);
}

function admittedLocally({ admissions }: LoadResult): number {
  return admissions.filter(({ by }) => by === "memory").length;
}

test("N of far more requests are admitted, and never more at once than there are slots", async () => {
  const results = await load();
  expectEach(results, 0);
  expectExact(results);
  expect(declinedFor(results.denying, "concurrency")).toBeGreaterThan(0);
  // A busy machine may end requests before the last slot is taken; the declines above show that slots ran out.
  expect(mostAtOnce(results.denying.admissions)).toBeWithin(SLOTS / 2, SLOTS + 1);
});

test.each([
  ["does not answer for 1.7 s", "pause", 1_700],
  ["is frozen for 1.7 s", "freeze", 1_700],
  ["is frozen until its connections are closed", "freeze", 4_000],
] as const)("a Redis that %s loses no counts: exactly N are admitted in the end", async (_, fault, ms) => {
  const results = await load(() => FAULTS[fault].strike(server, ms));
  expectEach(results, 1);
  expectExact(results);
  expect(declinedFor(results.denying, "unavailable")).toBeGreaterThan(0);
  expect(admittedLocally(results.local)).toBeGreaterThan(0);
  expect(admittedLocally(results.alone)).toBeGreaterThan(0);
});

test.each(["pause", "freeze"] as const)(
  "a Redis that does not answer for 400 ms (%s) is waited for: no gateway admits more than N",
  async (fault) => {
    const results = await load(() => FAULTS[fault].strike(server, 400));
    // A process that a busy machine holds up for 600 ms more has an outage of its own.
    const waited = Object.values(results).filter(({ reports }) =>
      reports.every(({ logged }) => logged.length === 0),
    );
    for (const { admissions } of waited) {
      expect(admissions).toHaveLength(REQUESTS);
      expect(admissions.every(({ by }) => by === "redis")).toBe(true);
      expect(mostAtOnce(admissions)).toBeLessThanOrEqual(SLOTS);
    }
    expect(waited.length).toBeGreaterThan(0);
  },
);

test("a Redis that drops its scripts causes no outage", async () => {
  const results = await load(() => FAULTS.forget.strike(server));
  expectEach(results, 0);
  expectExact(results);
});

test.each([
  ["restarts without its data", "shutdown", 1],
  ["is flushed", "flush", 0],
] as const)("a Redis that %s counts from zero: at most N more are admitted", async (_, fault, outages) => {
  const results = await load(() => FAULTS[fault].strike(server, 700));
  expectEach(results, outages);
  for (const { admissions } of Object.values(results)) {
    expect(admissions.length).toBeWithin(REQUESTS + 1, 2 * REQUESTS + 1);
    expect(mostAtOnce(admissions)).toBeLessThanOrEqual(2 * SLOTS);
  }
  if (outages === 0) return;
  expect(declinedFor(results.denying, "unavailable")).toBeGreaterThan(0);
  expect(admittedLocally(results.local)).toBeGreaterThan(0);
});

interface Kill {
  readonly held: number;
  /** Milliseconds from the kill until each of its slots was taken by another process. */
  readonly tookMs: readonly number[];
  readonly runningAfter: number | undefined;
}

const KILL_MS = 33_000;

/** Kills one of four processes that hold all slots. */
async function killOne(): Promise<Kill> {
  const redis = await startRedisServer();
  const { location } = redis;
  const group = await startLoadGroup({ location, onFailure: "deny", replicas: PROCESSES });
  const limits = { concurrentRequests: SLOTS };
  const run = group.begin({ limits, callers: 200, holdMs: 10 * KILL_MS, pauseMs: 1_000 });
  try {
    await until(() => run.admitted() >= SLOTS);
    const heldBy = (index: number) => run.admissions().filter(({ process }) => process === index).length;
    // On a busy machine one process may have taken all slots before another has started.
    const indexes = Array.from({ length: PROCESSES }, (_, index) => index);
    const victim = indexes.reduce((most, index) => (heldBy(index) > heldBy(most) ? index : most));
    await group.kill(victim);
    const killedAtMs = Date.now();
    const held = heldBy(victim);
    await until(() => run.admissions().length >= SLOTS + held);
    await Bun.sleep(QUIET_MS);
    const later = run.admissions().filter(({ atMs }) => atMs > killedAtMs);
    let runningAfter: number | undefined;
    // Usage is unknown during an outage, which a busy machine may cause.
    await until(async () => {
      runningAfter = (await group.usage(run.names))?.running;
      return runningAfter !== undefined;
    });
    return { held, tookMs: later.map(({ atMs }) => atMs - killedAtMs), runningAfter };
  } finally {
    await group.close();
    await redis.stop();
  }
}

test("the slots of a killed process are free for others when its leases expire, and not before", async () => {
  const { held, tookMs, runningAfter } = await kill;
  expect(held).toBeGreaterThan(0);
  expect(tookMs).toHaveLength(held);
  // The last renewal was up to 10 s before the kill.
  for (const ms of tookMs) expect(ms).toBeWithin(19_000, 50_000);
  expect(runningAfter).toBe(SLOTS);
});
