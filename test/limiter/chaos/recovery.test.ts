import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import {
  type Admission,
  type AdmissionRequest,
  type LimitDecline,
  LimiterError,
} from "../../../src/limiter/limiter.ts";
import { keysOf } from "../../../src/limiter/redis/scripts.ts";
import { type RedisServer, startRedisServer } from "../../support/redis-server.ts";
import { startTcpRelay } from "../../support/tcp-relay.ts";
import { until } from "../../support/until.ts";
import { startStallMeter } from "./stall-meter.ts";
import { startWatchedLimiter, type WatchedLimiter, type WatchedLimiterOptions } from "./watched-limiter.ts";

const LIMITS = { requestsPerMinute: 100, tokensPerMinute: 100_000, concurrentRequests: 50 };
/** More than the timeout of Redis on a busy machine, and less than the timeout of a command. */
const ANSWER_MAX_MS = 1_900;

let server: RedisServer;
/** Reads the counts of Redis over an undisturbed connection. */
let observer: WatchedLimiter;
const opened: { close(): void }[] = [];
beforeAll(async () => {
  server = await startRedisServer();
  observer = await startWatchedLimiter({ location: server.location, onFailure: "deny", isPatient: true });
  await loadScripts();
});
afterEach(() => {
  for (const each of opened.splice(0)) each.close();
});
afterAll(async () => {
  observer.close();
  await server.stop();
});

/** Starts a limiter with a relay to Redis that the test can block. */
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
  if (!decision.admitted) throw new Error(`Declined: ${decision.bound}`);
  return decision;
}

/** Returns the counts of a key in Redis. */
async function counted(request: AdmissionRequest) {
  const { requests, tokens, running } = await observer.usage(request);
  const used = (state: typeof requests) => (state ? state.limit - state.remaining : undefined);
  return { requests: used(requests), tokens: used(tokens), running };
}

/** Makes Redis load the scripts. */
async function loadScripts(): Promise<void> {
  await (await admit(observer, newRequest())).settle(0);
}

/** Waits until all calls have settled. `stalledMs` is how long this process stood still meanwhile. */
async function timed(...calls: readonly Promise<unknown>[]): Promise<{ ms: number; stalledMs: number }> {
  const stalls = startStallMeter();
  const startedAt = performance.now();
  await Promise.allSettled(calls);
  const ms = performance.now() - startedAt;
  const stalledMs = stalls.stalledMs();
  stalls.stop();
  return { ms, stalledMs };
}

const isBack = (limiter: WatchedLimiter) => until(() => limiter.logged.at(-1) === "back");

test("an admission with a late answer is cancelled when Redis is back", async () => {
  const { relay, limiter } = await start({ onFailure: "deny" });
  const request = newRequest();
  relay.holdAnswers();
  const admitting = limiter.admit(request);
  const { ms, stalledMs } = await timed(admitting);
  expect(ms).toBeGreaterThan(999);
  expect(ms - stalledMs).toBeLessThan(ANSWER_MAX_MS);
  const [settled] = await Promise.allSettled([admitting]);
  expect(settled).toMatchObject({ status: "rejected", reason: expect.any(LimiterError) });
  expect(await counted(request)).toEqual({ requests: 1, tokens: 100, running: 1 });
  relay.letThrough();
  await isBack(limiter);
  await until(async () => (await counted(request)).running === 0);
  expect(await counted(request)).toEqual({ requests: 0, tokens: 0, running: 0 });
  expect(limiter.logged).toEqual(["away", "back"]);
  expect(limiter.shared).toEqual([true, false, true]);
});

test("an admission whose script Redis received too late leaves nothing behind", async () => {
  const { relay, limiter } = await start({ onFailure: "deny" });
  const request = newRequest();
  await server.ask("SCRIPT", "FLUSH");
  relay.holdAnswers();
  await Promise.allSettled([limiter.admit(request)]);
  relay.letThrough();
  await isBack(limiter);
  // Sent on one connection, so everything before it has been executed.
  await (await admit(limiter, newRequest())).settle(0);
  await loadScripts();
  expect(await counted(request)).toEqual({ requests: 0, tokens: 0, running: 0 });
});

test("an admission sent on a lost connection and executed after the recovery is cancelled", async () => {
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

test("an admission that Redis answered late and that was repeated offline is counted once and released once", async () => {
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

test("offline admissions are counted in Redis when it is back, and corrected when they end later", async () => {
  const { relay, limiter } = await start({ onFailure: "local" });
  const request = newRequest();
  const before = await admit(limiter, request);
  relay.holdAnswers();
  const offline = await Promise.all(Array.from({ length: 5 }, () => admit(limiter, request)));
  await offline[0]?.settle(30);
  await offline[1]?.cancel();
  relay.letThrough();
  await isBack(limiter);
  const expected = { requests: 5, tokens: 430, running: 4 };
  await until(async () => Bun.deepEquals(await counted(request), expected));
  await Promise.all([before.settle(7), offline[2]?.settle(1), offline[3]?.cancel()]);
  expect(await counted(request)).toEqual({ requests: 4, tokens: 138, running: 1 });
  await offline[4]?.settle(250);
  expect(await counted(request)).toEqual({ requests: 4, tokens: 288, running: 0 });
});

test.each([
  ["the last request of a minute", { requestsPerMinute: 1 }],
  ["the last slot", { concurrentRequests: 1 }],
  ["the last tokens of a minute", { tokensPerMinute: 100 }],
])("%s is not given both by Redis and locally", async (_, keyLimits) => {
  const { relay, limiter } = await start({ onFailure: "local" });
  const request = newRequest({ keyLimits });
  relay.holdAnswers();
  const lost = limiter.admit(newRequest());
  await Bun.sleep(150);
  // Redis is marked down in 50 ms. The answer to this request exists by then, and arrives in time.
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

// Regression: a Redis without the script of the restoration decided this request before it had the script.
test("a request at the moment when Redis is back is decided after the offline admissions, also without the script", async () => {
  const request = newRequest({ keyLimits: { requestsPerMinute: 1 } });
  const { promise: atOnce, resolve } = Promise.withResolvers<Promise<Admission | LimitDecline>>();
  const { relay, limiter } = await start({
    onFailure: "local",
    onBack: () => resolve(limiter.admit(request)),
  });
  relay.holdAnswers();
  await limiter.admit(newRequest());
  expect((await limiter.admit(request)).admitted).toBe(true);
  await server.ask("SCRIPT", "FLUSH");
  // Loads all other scripts.
  await loadScripts();
  relay.letThrough();
  expect((await atOnce).admitted).toBe(false);
});

// Regression: the leases of offline admissions did not count for the admissions of the call that renewed them.
test("a request at the moment when Redis is back is declined while offline admissions hold all slots", async () => {
  const request = newRequest({ keyLimits: { concurrentRequests: 1 } });
  const { promise: atOnce, resolve } = Promise.withResolvers<Promise<Admission | LimitDecline>>();
  const { relay, limiter } = await start({
    onFailure: "local",
    onBack: () => resolve(limiter.admit(request)),
  });
  relay.holdAnswers();
  const offline = await admit(limiter, request);
  relay.letThrough();
  expect(await atOnce).toMatchObject({ admitted: false, bound: "concurrency" });
  await offline.settle(0);
});

test("a request in the event-loop turn of a renewal is declined while restored leases hold all slots", async () => {
  const { limiter } = await start({ onFailure: "deny" });
  const request = newRequest({ keyLimits: { concurrentRequests: 2 } });
  await admit(limiter, request);
  await server.ask("FLUSHALL");
  // The window exists again, with one of two slots.
  await admit(observer, request);
  limiter.renew();
  expect(await limiter.admit(request)).toMatchObject({ admitted: false, bound: "concurrency" });
});

test("releases that Redis did not receive are sent when it is back, without delaying their callers", async () => {
  const { relay, limiter } = await start({ onFailure: "local" });
  const request = newRequest();
  const admissions = await Promise.all(Array.from({ length: 20 }, () => admit(limiter, request)));
  relay.loseAll(server.port);
  const { ms, stalledMs } = await timed(
    ...admissions.map((admission, index) => (index % 2 ? admission.settle(1) : admission.cancel())),
  );
  expect(ms - stalledMs).toBeLessThan(ANSWER_MAX_MS);
  expect(await counted(request)).toEqual({ requests: 20, tokens: 2_000, running: 20 });
  await isBack(limiter);
  await until(async () => Bun.deepEquals(await counted(request), { requests: 10, tokens: 10, running: 0 }));
  expect(limiter.logged).toEqual(["away", "back"]);
});

test("leases that Redis lost are restored by the next renewal, and released with their requests", async () => {
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

test("a renewed lease whose request ends during a second outage is released", async () => {
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
  ["in one event-loop turn", true],
  ["while Redis loads the script", false],
])("a lease whose request ends during its renewal, %s, is released", async (_, isSameTurn) => {
  const { limiter } = await start({ onFailure: "deny" });
  const request = newRequest();
  const [first, second] = await Promise.all([admit(limiter, request), admit(limiter, request)]);
  if (!isSameTurn) await server.ask("SCRIPT", "FLUSH");
  await loadScripts();
  const ends = [first.settle(0)];
  limiter.renew();
  if (!isSameTurn) await new Promise(setImmediate);
  ends.push(second.settle(0));
  await Promise.all(ends);
  // Everything sent before is executed then.
  for (let answer = 0; answer < 2; answer += 1) await (await admit(limiter, newRequest())).settle(0);
  expect((await counted(request)).running).toBe(0);
});

test("leases of offline admissions are renewed when Redis is back, and expire when their process is gone", async () => {
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
