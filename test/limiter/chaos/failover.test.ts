import { afterEach, expect, test } from "bun:test";
import type { RedisLocation } from "../../../src/limiter/redis/location.ts";
import { type RedisCluster, startRedisCluster } from "../../support/redis-cluster.ts";
import { startRedisSentinel } from "../../support/redis-sentinel.ts";
import { until } from "../redis-client.ts";
import type { Tally } from "./commands.ts";
import { type LoadGroup, type LoadRequest, type LoadRun, startLoadGroup, untilIdle } from "./load.ts";
import { beyondShare, type LoadResult, mostAtOnce, ofProcess, shorten, slowestMs } from "./load-result.ts";

const PROCESSES = 2;
const SLOTS = 20;
/** So many that some are left when all is over. */
const REQUESTS = 20_000;
const LOAD: LoadRequest = {
  limits: { requestsPerMinute: REQUESTS, concurrentRequests: SLOTS },
  callers: 50,
  holdMs: 30,
  pauseMs: 100,
};
/** More than Redis may take, with what a busy machine adds, and less than a command to it may. */
const SLOWEST_MS = 900;
/** What ended while Redis was away is told in a moment, and not only forgotten with its lease of 30 s. */
const IDLE_MS = 25_000;
/** What the dead server had answered, and not passed on yet, ends with its lease of 30 s. */
const IDLE_ELSEWHERE_MS = 120_000;

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((close) => close()));
});

async function openLoadGroup(location: RedisLocation, onFailure: "local" | "deny"): Promise<LoadGroup> {
  const group = await startLoadGroup({ location, onFailure, replicas: PROCESSES });
  opened.push(group.close);
  return group;
}

async function openCluster(replicas: 0 | 1): Promise<RedisCluster> {
  const cluster = await startRedisCluster({ replicas });
  opened.push(cluster.stop);
  return cluster;
}

/** Resolves when Redis has decided for each process after `sinceMs`. */
function sharedSince(run: LoadRun, sinceMs: number): Promise<void> {
  return until(() => run.tallies().every(({ sharedAtMs }) => sharedAtMs > sinceMs));
}

/** Resolves when each process has had to decide without Redis, or nobody has, since `sinceMs`. */
function lostSince(run: LoadRun, sinceMs: number): Promise<void> {
  return until(() => run.tallies().every(({ unsharedAtMs }) => unsharedAtMs > sinceMs));
}

/** Nothing is stuck, nobody waited, and each went on from its share alone. */
async function expectWell(group: LoadGroup, run: LoadRun, idleMs: number): Promise<LoadResult> {
  const loadResult = await run.end();
  const { answer, end } = slowestMs(loadResult);
  expect(answer).toBeLessThan(SLOWEST_MS);
  expect(end).toBeLessThan(SLOWEST_MS);
  for (let process = 0; process < PROCESSES; process += 1) {
    expect(beyondShare(ofProcess(loadResult, process), REQUESTS / PROCESSES)).toBe(0);
  }
  await untilIdle(group, run, idleMs);
  return loadResult;
}

/** Each process lost Redis, found it, and said both. */
function expectFoundAgain({ reports }: LoadResult): void {
  for (const { logged, shared } of reports) {
    const away = logged.map(shorten).filter((event) => event === "away");
    expect(away.length).toBeGreaterThan(0);
    const changes = Object.values(shared);
    expect(changes.flat().filter((isShared) => !isShared)).toHaveLength(away.length);
    // A busy machine adds absences of its own, and the end of the load may fall into one.
    const absent = changes.filter((each) => each.at(-1) === false);
    expect(logged).toHaveLength(2 * away.length - absent.length);
    expect(logged.map(shorten)).toContain("back");
  }
}

test("through sentinels all go on when the master is killed, and share again when there is another", async () => {
  const sentinels = await startRedisSentinel();
  opened.push(sentinels.stop);
  const kinds = await Promise.all(
    (["local", "deny"] as const).map(async (onFailure) => {
      const group = await openLoadGroup(sentinels.location, onFailure);
      return { onFailure, group, run: group.begin(LOAD) };
    }),
  );
  await Promise.all(kinds.map(({ run }) => sharedSince(run, 0)));
  const old = await sentinels.master();
  await old.kill();
  const killedAtMs = Date.now();
  await sentinels.untilSwitched(old);
  const switchedAtMs = Date.now();
  await Promise.all(kinds.map(({ run }) => lostSince(run, killedAtMs)));
  await Promise.all(kinds.map(({ run }) => sharedSince(run, switchedAtMs)));
  for (const { onFailure, group, run } of kinds) {
    const loadResult = await expectWell(group, run, IDLE_ELSEWHERE_MS);
    expectFoundAgain(loadResult);
    expect(loadResult.admissions.some(({ by }) => by === "memory")).toBe(onFailure === "local");
  }
});

/** Accounts that two masters of a cluster keep. */
async function accountsOf(cluster: RedisCluster) {
  const accountId = crypto.randomUUID();
  const master = await cluster.masterOf(accountId);
  for (;;) {
    const other = crypto.randomUUID();
    if ((await cluster.masterOf(other)) !== master) return { accountId, master, other };
  }
}

test.each([
  ["and are shared again when its replica has taken over", 1],
  ["until it is back", 0],
] as const)(
  "of a cluster with one dead master its callers go on alone, %s; the others notice nothing",
  async (_, replicas) => {
    const cluster = await openCluster(replicas);
    const { accountId, master, other } = await accountsOf(cluster);
    const [ofDead, ofOther] = await Promise.all([
      openLoadGroup(cluster.location, "local"),
      openLoadGroup(cluster.location, "deny"),
    ]);
    const [lost, kept] = [ofDead.begin({ ...LOAD, accountId }), ofOther.begin({ ...LOAD, accountId: other })];
    await Promise.all([sharedSince(lost, 0), sharedSince(kept, 0)]);
    await master.kill();
    const killedAtMs = Date.now();
    await lostSince(lost, killedAtMs);
    if (replicas === 0) await master.start();
    const backAtMs = Date.now();
    const isShared = ({ sharedAtMs, unsharedAtMs }: Tally) => sharedAtMs > Math.max(unsharedAtMs, backAtMs);
    await until(() => lost.tallies().every(isShared));
    const loadResult = await expectWell(ofDead, lost, replicas === 0 ? IDLE_MS : IDLE_ELSEWHERE_MS);
    expectFoundAgain(loadResult);
    expect(loadResult.admissions.some(({ by }) => by === "memory")).toBe(true);

    const { admissions, reports } = await expectWell(ofOther, kept, IDLE_MS);
    expect(mostAtOnce(admissions)).toBeLessThanOrEqual(SLOTS);
    for (const { refused, logged } of reports) expect([refused.unavailable, logged]).toEqual([0, []]);
  },
);
