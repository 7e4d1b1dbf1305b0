import { afterEach, expect, test } from "bun:test";
import type { RedisLocation } from "../../../src/limiter/redis/location.ts";
import { type RedisCluster, startRedisCluster } from "../../support/redis-cluster.ts";
import { startRedisSentinel } from "../../support/redis-sentinel.ts";
import { until } from "../../support/until.ts";
import type { Tally } from "./commands.ts";
import { type LoadGroup, type LoadRequest, type LoadRun, startLoadGroup, untilIdle } from "./load.ts";
import { beyondShare, type LoadResult, mostAtOnce, ofProcess, shorten, slowestMs } from "./load-result.ts";

const PROCESSES = 2;
const SLOTS = 20;
/** More than the load can use up. */
const REQUESTS = 20_000;
const LOAD: LoadRequest = {
  limits: { requestsPerMinute: REQUESTS, concurrentRequests: SLOTS },
  callers: 50,
  holdMs: 30,
  pauseMs: 100,
};
/** More than the timeout of Redis on a busy machine, and less than the timeout of a command. */
const SLOWEST_MS = 1_900;
/** Less than the lease of 30 s: pending releases must be sent, not only expire. */
const IDLE_MS = 25_000;
/** Admissions that the dead server had not replicated yet expire with their lease of 30 s. */
const IDLE_ELSEWHERE_MS = 120_000;

const opened: (() => Promise<void>)[] = [];
afterEach(() => Promise.all(opened.splice(0).map((close) => close())));

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

/** Resolves when each process has decided or declined without Redis after `sinceMs`. */
function lostSince(run: LoadRun, sinceMs: number): Promise<void> {
  return until(() => run.tallies().every(({ unsharedAtMs }) => unsharedAtMs > sinceMs));
}

/** Expects no stuck slot, no late answer, and no admission beyond the share of a process. */
async function expectRecovery(group: LoadGroup, run: LoadRun, idleMs: number): Promise<LoadResult> {
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

/** Expects each process to have lost and found Redis, and to have logged both. */
function expectReconnected({ reports }: LoadResult): void {
  for (const { logged, shared } of reports) {
    const away = logged.map(shorten).filter((event) => event === "away");
    expect(away.length).toBeGreaterThan(0);
    const changes = Object.values(shared);
    expect(changes.flat().filter((isShared) => !isShared)).toHaveLength(away.length);
    // A busy machine adds outages of its own, and the load may end within one.
    const unfinished = changes.filter((each) => each.at(-1) === false);
    expect(logged).toHaveLength(2 * away.length - unfinished.length);
    expect(logged.map(shorten)).toContain("back");
  }
}

test("limiters behind sentinels continue when the master is killed, and share the new master", async () => {
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
    const loadResult = await expectRecovery(group, run, IDLE_ELSEWHERE_MS);
    expectReconnected(loadResult);
    expect(loadResult.admissions.some(({ by }) => by === "memory")).toBe(onFailure === "local");
  }
});

/** Returns accounts on two masters of a cluster. */
async function accountsOf(cluster: RedisCluster) {
  const accountId = crypto.randomUUID();
  const master = await cluster.masterOf(accountId);
  for (;;) {
    const other = crypto.randomUUID();
    if ((await cluster.masterOf(other)) !== master) return { accountId, master, other };
  }
}

test.each([
  ["and share its replica after the takeover", 1],
  ["until it restarts", 0],
] as const)(
  "callers of a dead master in a cluster are decided locally %s, and other callers are not affected",
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
    const loadResult = await expectRecovery(ofDead, lost, replicas === 0 ? IDLE_MS : IDLE_ELSEWHERE_MS);
    expectReconnected(loadResult);
    expect(loadResult.admissions.some(({ by }) => by === "memory")).toBe(true);

    const { admissions, reports } = await expectRecovery(ofOther, kept, IDLE_MS);
    expect(mostAtOnce(admissions)).toBeLessThanOrEqual(SLOTS);
    for (const { declined, logged } of reports) expect([declined.unavailable, logged]).toEqual([0, []]);
  },
);
