import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RedisServer, startRedisServer } from "../../support/redis-server.ts";
import { until } from "../redis-client.ts";
import type { Tally } from "./commands.ts";
import { FAULTS } from "./faults.ts";
import { type LoadGroup, type LoadRequest, type LoadRun, startLoadGroup, untilIdle } from "./load.ts";
import {
  beyondShare,
  type LoadResult,
  mostAtOnce,
  ofProcess,
  refusedBy,
  shorten,
  slowestMs,
} from "./load-result.ts";

const PROCESSES = 4;
const REQUESTS = 800;
const SLOTS = 32;
/** More than the slots let through, which is 530 a second. */
const LOAD: LoadRequest = {
  limits: { requestsPerMinute: REQUESTS, concurrentRequests: SLOTS },
  callers: 200,
  holdMs: 60,
  pauseMs: 400,
};
/** More than Redis may take, with what a busy machine adds, and less than a command to it may. */
const SLOWEST_MS = 900;
/** Less than the lease of 30 s, with which a slot would be free all the same. */
const IDLE_MS = 25_000;
/** After so long without an admission there is nothing more to be had. */
const QUIET_MS = 500;

let server: RedisServer;
let groups: Record<"denying" | "local" | "alone", LoadGroup>;
/** Takes longer than all others together. */
let kill: Promise<Kill>;
beforeAll(async () => {
  kill = killOne();
  // It is awaited late.
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

type Evidences = Record<keyof typeof groups, LoadResult>;

/** Lets all groups ask, each for a key of its own, until nothing is left; a quarter in, something happens. */
async function load(strike: () => Promise<void> = async () => undefined): Promise<Evidences> {
  const entries = Object.entries(groups).map(([name, group]) => ({ name, group, run: group.begin(LOAD) }));
  const runs = entries.map(({ run }) => run);
  await until(() => runs.every((run) => run.admitted() >= REQUESTS / 4));
  await strike();
  await untilQuiet(runs);
  // Whoever lost Redis has it again.
  await until(() => runs.every((run) => run.tallies().every(isShared)));
  const ended = entries.map(async ({ name, group, run }) => {
    const loadResult = await run.end();
    // Nothing is stuck; what ended while Redis was away is told in a moment.
    await untilIdle(group, run, IDLE_MS);
    return [name, loadResult];
  });
  return Object.fromEntries(await Promise.all(ended));
}

function isShared({ sharedAtMs, unsharedAtMs }: Tally): boolean {
  return sharedAtMs > unsharedAtMs;
}

/** Until every process has had an answer of Redis long enough after the last admission of any of them. */
async function untilQuiet(runs: readonly LoadRun[]): Promise<void> {
  let seen = -1;
  let sinceMs = 0;
  await until(() => {
    const admitted = runs.reduce((sum, run) => sum + run.admitted(), 0);
    if (admitted !== seen) sinceMs = Date.now();
    seen = admitted;
    const told = runs.flatMap((run) => run.tallies());
    return told.every((tally) => tally.sharedAtMs > sinceMs + QUIET_MS);
  });
}

/** What holds whatever happens. `absences` is how often each process must have lost Redis at least. */
function expectEach(evidences: Evidences, absences: number): void {
  for (const loadResult of Object.values(evidences)) {
    // One line and one change of the metric for each change of state. A busy machine adds absences of its own,
    // and the load may begin or end within one of them.
    for (const { logged, shared } of loadResult.reports) {
      const said = logged.map(shorten);
      expect(said.filter((word) => word === "away").length).toBeGreaterThanOrEqual(absences);
      const isFirstAway = said[0] === "away";
      expect(said).toEqual(said.map((_, index) => ((index % 2 === 0) === isFirstAway ? "away" : "back")));
      expect(Object.values(shared)).toEqual([said.map((word) => word === "back")]);
    }
    const { answer, end } = slowestMs(loadResult);
    expect(answer).toBeLessThan(SLOWEST_MS);
    expect(end).toBeLessThan(SLOWEST_MS);
    expect(refusedBy(loadResult, "rate")).toBeGreaterThan(0);
  }
  for (let process = 0; process < PROCESSES; process += 1) {
    expect(beyondShare(ofProcess(evidences.local, process), REQUESTS / PROCESSES)).toBe(0);
  }
  expect(beyondShare(evidences.alone.admissions, REQUESTS)).toBe(0);
}

/** What holds unless Redis loses what it knows: N are admitted, and never more at once than there are slots. */
function expectExact({ denying, local, alone }: Evidences): void {
  for (const { admissions } of [denying, alone]) {
    expect(admissions).toHaveLength(REQUESTS);
    expect(mostAtOnce(admissions)).toBeLessThanOrEqual(SLOTS);
  }
  // Those who go on alone have their own share, also when others have had more than theirs before.
  expect(local.admissions.length).toBeWithin(REQUESTS, 2 * REQUESTS + 1);
  expect(mostAtOnce(local.admissions)).toBeLessThanOrEqual(2 * SLOTS);
}

function admittedAlone({ admissions }: LoadResult): number {
  return admissions.filter(({ by }) => by === "memory").length;
}

test("N of far more are admitted, and never more at once than there are slots", async () => {
  const evidences = await load();
  expectEach(evidences, 0);
  expectExact(evidences);
  expect(refusedBy(evidences.denying, "concurrency")).toBeGreaterThan(0);
  expect(mostAtOnce(evidences.denying.admissions)).toBe(SLOTS);
});

test.each([
  ["does not answer for a while", "pause", 700],
  ["is stopped for a while", "freeze", 700],
  ["is stopped until its connections are given up", "freeze", 2_600],
] as const)(
  "a Redis that %s loses nobody's count: no more than N are admitted, and in the end all N",
  async (_, fault, ms) => {
    const evidences = await load(() => FAULTS[fault].strike(server, ms));
    expectEach(evidences, 1);
    expectExact(evidences);
    expect(refusedBy(evidences.denying, "unavailable")).toBeGreaterThan(0);
    expect(admittedAlone(evidences.local)).toBeGreaterThan(0);
    expect(admittedAlone(evidences.alone)).toBeGreaterThan(0);
  },
);

test("a Redis that forgets its scripts goes on as if nothing had happened", async () => {
  const evidences = await load(() => FAULTS.forget.strike(server));
  expectEach(evidences, 0);
  expectExact(evidences);
});

test.each([
  ["ends and starts again", "shutdown", 1],
  ["is emptied", "flush", 0],
] as const)(
  "a Redis that %s counts from nothing: N once more, and no more than that",
  async (_, fault, absences) => {
    const evidences = await load(() => FAULTS[fault].strike(server, 700));
    expectEach(evidences, absences);
    for (const { admissions } of Object.values(evidences)) {
      expect(admissions.length).toBeWithin(REQUESTS + 1, 2 * REQUESTS + 1);
      expect(mostAtOnce(admissions)).toBeLessThanOrEqual(2 * SLOTS);
    }
    if (absences === 0) return;
    expect(refusedBy(evidences.denying, "unavailable")).toBeGreaterThan(0);
    expect(admittedAlone(evidences.local)).toBeGreaterThan(0);
  },
);

interface Kill {
  readonly held: number;
  /** From the kill until others had each of its slots. */
  readonly tookMs: readonly number[];
  readonly runningAfter: number | undefined;
}

const KILL_MS = 33_000;

/** Four processes hold all slots; one of them is killed. */
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
    // Nobody can say while Redis seems to be away, as on a busy machine.
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

test("the slots of a killed process are free for others when its leases end, and not before", async () => {
  const { held, tookMs, runningAfter } = await kill;
  expect(held).toBeGreaterThan(0);
  expect(tookMs).toHaveLength(held);
  // The last renewal was up to 10 s before the kill.
  for (const ms of tookMs) expect(ms).toBeWithin(19_000, 50_000);
  expect(runningAfter).toBe(SLOTS);
});
