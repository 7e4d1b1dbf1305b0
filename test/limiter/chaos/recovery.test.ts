import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { type Admission, type AdmissionRequest, LimiterError } from "../../../src/limiter/limiter.ts";
import { keysOf } from "../../../src/limiter/redis/keys.ts";
import { type RedisServer, startRedisServer } from "../../support/redis-server.ts";
import { startTcpRelay } from "../../support/tcp-relay.ts";
import { until } from "../redis-client.ts";
import { startWatchedLimiter, type WatchedLimiter, type WatchedLimiterOptions } from "./watched-limiter.ts";

const LIMITS = { requestsPerMinute: 100, tokensPerMinute: 100_000, concurrentRequests: 50 };
/** More than Redis may take, with what a busy machine adds, and less than a command to it may. */
const AT_MOST_MS = 900;

let server: RedisServer;
/** Sees what Redis counts, whatever happens to the others. */
let observer: WatchedLimiter;
const opened: { close(): void }[] = [];
beforeAll(async () => {
  server = await startRedisServer();
  observer = await startWatchedLimiter({ location: server.location, onFailure: "deny" });
  await knowScripts();
});
afterEach(() => {
  for (const each of opened.splice(0)) each.close();
});
afterAll(async () => {
  observer.close();
  await server.stop();
});

/** A limiter whose way to Redis a test can block. */
async function start(options: Omit<WatchedLimiterOptions, "location">) {
  const relay = await startTcpRelay(server.port);
  const location = { ...server.location, hosts: [{ host: "127.0.0.1", port: relay.port }] };
  const limiter = await startWatchedLimiter({ ...options, location });
  opened.push({ close: relay.stop }, limiter);
  return { relay, limiter };
}

function newRequest(more: Partial<AdmissionRequest> = {}): AdmissionRequest {
  const [accountId, keyId] = [crypto.randomUUID(), crypto.randomUUID()];
  return { accountId, keyId, keyLimits: LIMITS, accountLimits: {}, tokens: 100, ...more };
}

async function admit(limiter: WatchedLimiter, request: AdmissionRequest): Promise<Admission> {
  const decision = await limiter.admit(request);
  if (!decision.admitted) throw new Error(`Refused: ${decision.bound}`);
  return decision;
}

/** What Redis counts for a key. */
async function counted(request: AdmissionRequest) {
  const { requests, tokens, running } = await observer.usage(request);
  const used = (state: typeof requests) => (state ? state.limit - state.remaining : undefined);
  return { requests: used(requests), tokens: used(tokens), running };
}

/** So that Redis does at once what it is asked. */
async function knowScripts(): Promise<void> {
  await (await admit(observer, newRequest())).settle(0);
}

const isBack = (limiter: WatchedLimiter) => until(() => limiter.logged.at(-1) === "back");

test("an admission whose answer came too late is undone when Redis is back", async () => {
  const { relay, limiter } = await start({ onFailure: "deny" });
  const request = newRequest();
  relay.holdAnswers();
  const startedAt = performance.now();
  const [asked] = await Promise.allSettled([limiter.admit(request)]);
  expect(performance.now() - startedAt).toBeWithin(199, AT_MOST_MS);
  expect(asked).toMatchObject({ status: "rejected", reason: expect.any(LimiterError) });
  expect(await counted(request)).toEqual({ requests: 1, tokens: 100, running: 1 });
  relay.letThrough();
  await isBack(limiter);
  await until(async () => (await counted(request)).running === 0);
  expect(await counted(request)).toEqual({ requests: 0, tokens: 0, running: 0 });
  expect(limiter.logged).toEqual(["away", "back"]);
  expect(limiter.shared).toEqual([true, false, true]);
});

test("one that Redis had to be told the script of, and was told too late, leaves nothing behind", async () => {
  const { relay, limiter } = await start({ onFailure: "deny" });
  const request = newRequest();
  await server.ask("SCRIPT", "FLUSH");
  relay.holdAnswers();
  await Promise.allSettled([limiter.admit(request)]);
  relay.letThrough();
  await isBack(limiter);
  // On the same connection, so all before it is done.
  await (await admit(limiter, newRequest())).settle(0);
  await knowScripts();
  expect(await counted(request)).toEqual({ requests: 0, tokens: 0, running: 0 });
});

test("what was sent on a connection that is lost, and is done only after the recovery, is undone too", async () => {
  const { relay, limiter } = await start({ onFailure: "local", renewEveryMs: 1_000 });
  const request = newRequest();
  const before = await admit(limiter, request);
  relay.detain();
  const ghost = await admit(limiter, request);
  await Promise.all([before.settle(1), ghost.cancel()]);
  await isBack(limiter);
  await until(async () => (await counted(request)).running === 0);
  relay.deliver();
  await until(async () => (await counted(request)).running > 0);
  await until(async () => (await counted(request)).running === 0);
  expect(await counted(request)).toEqual({ requests: 1, tokens: 1, running: 0 });
});

test("one that was let in alone meanwhile is counted once, and ends once", async () => {
  const { relay, limiter } = await start({ onFailure: "local" });
  const request = newRequest();
  relay.holdAnswers();
  const admission = await admit(limiter, request);
  relay.letThrough();
  await isBack(limiter);
  await until(async () => Bun.deepEquals(await counted(request), { requests: 1, tokens: 100, running: 1 }));
  await admission.settle(30);
  expect(await counted(request)).toEqual({ requests: 1, tokens: 30, running: 0 });
});

test("what was let in alone is counted by all when Redis is back, and corrected when it ends later", async () => {
  const { relay, limiter } = await start({ onFailure: "local" });
  const request = newRequest();
  const before = await admit(limiter, request);
  relay.holdAnswers();
  const alone = await Promise.all(Array.from({ length: 5 }, () => admit(limiter, request)));
  await alone[0]?.settle(30);
  await alone[1]?.cancel();
  relay.letThrough();
  await isBack(limiter);
  const told = { requests: 5, tokens: 430, running: 4 };
  await until(async () => Bun.deepEquals(await counted(request), told));
  await Promise.all([before.settle(7), alone[2]?.settle(1), alone[3]?.cancel()]);
  expect(await counted(request)).toEqual({ requests: 4, tokens: 138, running: 1 });
  await alone[4]?.settle(250);
  expect(await counted(request)).toEqual({ requests: 4, tokens: 288, running: 0 });
});

test.each([
  ["the last place of a minute", { requestsPerMinute: 1 }],
  ["the last slot", { concurrentRequests: 1 }],
  ["the last tokens of a minute", { tokensPerMinute: 100 }],
])("%s is not given by Redis and alone at the same time", async (_, keyLimits) => {
  const { relay, limiter } = await start({ onFailure: "local" });
  const request = newRequest({ keyLimits });
  relay.holdAnswers();
  const lost = limiter.admit(newRequest());
  await Bun.sleep(150);
  // In 50 ms Redis is away. The answer to this one is there by then, and comes in time.
  const early = limiter.admit(request);
  await lost;
  const late = limiter.admit(request);
  relay.letThrough();
  const admitted = (await Promise.all([early, late])).flatMap((each) => (each.admitted ? [each] : []));
  expect(admitted).toHaveLength(1);
  await isBack(limiter);
  await until(async () => (await counted(request)).running === 1);
  await admitted[0]?.cancel();
  expect((await counted({ ...request, keyLimits: LIMITS })).requests).toBe(0);
});

test("an end that Redis never heard of is told when it is back, and nobody waits for it", async () => {
  const { relay, limiter } = await start({ onFailure: "local" });
  const request = newRequest();
  const admissions = await Promise.all(Array.from({ length: 20 }, () => admit(limiter, request)));
  relay.loseAll(server.port);
  const startedAt = performance.now();
  await Promise.all(
    admissions.map((admission, index) => (index % 2 ? admission.settle(1) : admission.cancel())),
  );
  expect(performance.now() - startedAt).toBeLessThan(AT_MOST_MS);
  expect(await counted(request)).toEqual({ requests: 20, tokens: 2_000, running: 20 });
  await isBack(limiter);
  await until(async () => Bun.deepEquals(await counted(request), { requests: 10, tokens: 10, running: 0 }));
  expect(limiter.logged).toEqual(["away", "back"]);
});

test("leases that Redis lost come back with the next renewal, and end with their requests", async () => {
  const { limiter } = await start({ onFailure: "deny", renewEveryMs: 100 });
  const request = newRequest();
  const admissions = await Promise.all(Array.from({ length: 5 }, () => admit(limiter, request)));
  await server.ask("FLUSHALL");
  await until(async () => (await counted(request)).running === 5);
  expect((await limiter.admit({ ...request, keyLimits: { concurrentRequests: 5 } })).admitted).toBe(false);
  await Promise.all(admissions.map((each) => each.settle(0)));
  expect(await counted(request)).toEqual({ requests: 0, tokens: 0, running: 0 });
  expect(limiter.logged).toEqual([]);
});

test("a lease that was renewed, and ends while Redis is away again, does not stay", async () => {
  const { relay, limiter } = await start({
    onFailure: "local",
    onBack: () => isFlapping && relay.holdAnswers(),
  });
  let isFlapping = true;
  const request = newRequest();
  relay.holdAnswers();
  const admission = await admit(limiter, request);
  relay.letThrough();
  await until(async () => (await counted(request)).running === 1);
  await until(() => limiter.logged.length === 3);
  await admission.settle(5);
  isFlapping = false;
  relay.letThrough();
  await until(() => limiter.logged.length === 4);
  await until(async () => (await counted(request)).running === 0);
  await until(async () => (await counted(request)).requests === 1);
});

test.each([
  ["in the same turn of the event loop", true],
  ["while Redis is told the script", false],
])("a lease that ends at the time of its renewal, %s, does not stay", async (_, isSameTurn) => {
  const { limiter } = await start({ onFailure: "deny" });
  const request = newRequest();
  const [first, second] = await Promise.all([admit(limiter, request), admit(limiter, request)]);
  if (!isSameTurn) await server.ask("SCRIPT", "FLUSH");
  await knowScripts();
  const ends = [first.settle(0)];
  limiter.renew();
  if (!isSameTurn) await new Promise(setImmediate);
  ends.push(second.settle(0));
  await Promise.all(ends);
  // Whatever was sent until now is done.
  for (let answer = 0; answer < 2; answer += 1) await (await admit(limiter, newRequest())).settle(0);
  expect((await counted(request)).running).toBe(0);
});

test("leases of requests let in alone are renewed when Redis is back, and free when their process is gone", async () => {
  const { relay, limiter } = await start({ onFailure: "local" });
  const request = newRequest();
  relay.holdAnswers();
  await Promise.all(Array.from({ length: 3 }, () => admit(limiter, request)));
  relay.letThrough();
  await isBack(limiter);
  await until(async () => (await counted(request)).running === 3);
  limiter.close();
  const leases = await server.ask("ZRANGE", leasesKeyOf(request), 0, -1, "WITHSCORES");
  const ends = Array.isArray(leases) ? leases.filter((_, index) => index % 2).map(Number) : [];
  expect(ends).toHaveLength(3);
  for (const endMs of ends) expect(endMs - Date.now()).toBeWithin(25_000, 30_001);
});

function leasesKeyOf({ accountId, keyId }: AdmissionRequest): string {
  return keysOf({ accountId, keyId })[1] ?? "";
}
