import { expect, test } from "bun:test";
import type { RedisConnection } from "../../../src/limiter/redis/server.ts";
import { createRedisStore, type RedisStore } from "../../../src/limiter/redis/store.ts";
import { connectClocked } from "../../limiter/contract/redis.ts";
import { createManualClock } from "../../limiter/manual-clock.ts";
import { createDraw, drawInteger, drawOne, type RandomSource } from "../../support/seeded-random.ts";
import { KeySpace } from "./key-space.ts";
import { LuaMachine } from "./lua.ts";

const MINUTE_MS = 60_000;
const THREE_HOURS_MS = 180 * MINUTE_MS;
/** Commands that both answer. */
const STEPS = 400;

/** The true scripts over keys in memory, whose clock a test sets. */
function openStore() {
  const clock = { ms: Date.UTC(2026, 0, 1) };
  const keys = new KeySpace(() => clock.ms);
  const machine = new LuaMachine();
  const run = async (source: string, count: number, ...rest: readonly (string | number)[]) =>
    machine.run(source, {
      keys: rest.slice(0, count).map(String),
      args: rest.slice(count).map(String),
      command: (name, args) => keys.run(name, args),
    });
  const unknown = async () => {
    throw new Error("NOSCRIPT");
  };
  const callBuffer = async (command: string, ...rest: Parameters<typeof run>) =>
    command === "evalsha" ? unknown() : Buffer.from((await run(...rest)) as Uint8Array);
  const client = { isCluster: false, callBuffer, eval: run, evalsha: unknown };
  // Safe because a store only runs scripts.
  const store = createRedisStore({ client } as unknown as RedisConnection);
  let leases = 0;
  const admit = async (keyId: string, keyLimits: object) => {
    leases += 1;
    const request = { accountId: "account", keyId, keyLimits, accountLimits: {}, tokens: 1 };
    const { outcome } = await store.admit(request, `lease ${leases}`);
    return outcome;
  };
  /** Repeats a call each second. */
  const runFor = async (ms: number, call: () => Promise<string>) => {
    const outcomes: string[] = [];
    for (const endsAtMs = clock.ms + ms; clock.ms < endsAtMs; clock.ms += 1_000) outcomes.push(await call());
    return outcomes;
  };
  return { clock, store, admit, runFor };
}

test("a key that used up its minute is admitted again after the clock was set back by hours", async () => {
  const { clock, admit, runFor } = openStore();
  expect(await admit("one", { requestsPerMinute: 1 })).toBe("admitted");
  clock.ms -= THREE_HOURS_MS;
  await runFor(2_000, () => admit("other", {}));
  clock.ms += 2 * MINUTE_MS;
  const outcomes = await runFor(62_000, () => admit("one", { requestsPerMinute: 1 }));
  expect(outcomes).toContain("admitted");
});

test("a slot of a dead gateway is free after the clock was set back by hours", async () => {
  const { clock, store, admit, runFor } = openStore();
  expect(await admit("one", { concurrentRequests: 1 })).toBe("admitted");
  clock.ms -= THREE_HOURS_MS;
  await store.renew({ accountId: "account", keyId: "one" }, "lease 1");
  await runFor(2_000, () => admit("other", {}));
  clock.ms += 2 * MINUTE_MS;
  expect(await admit("one", { concurrentRequests: 1 })).toBe("admitted");
});

test("the simulated Redis answers every script as a real one does", async () => {
  const simulated = openStore();
  const clock = createManualClock();
  const redis = await connectClocked(clock);
  const real = createRedisStore(redis.connection, { clockLua: redis.clockLua, timeoutMs: MINUTE_MS });
  const draw = createDraw("redis", 1);
  const accountId = crypto.randomUUID();
  const seconds: number[] = [];
  for (let step = 0; step < STEPS; step += 1) {
    const call = drawCall(draw, accountId, seconds);
    simulated.clock.ms += drawInteger(draw, 0, 2_000);
    await redis.setNow(simulated.clock.ms);
    const answer = await call(simulated.store);
    expect(await call(real)).toEqual(answer);
    seconds.push(Math.floor(simulated.clock.ms / 1_000));
  }
  await redis.close();
});

/** A call of a store. Leases are numbered by step, of which each has its second. */
function drawCall(
  draw: RandomSource,
  accountId: string,
  seconds: readonly number[],
): (store: RedisStore) => Promise<unknown> {
  const step = seconds.length;
  const past = drawInteger(draw, 0, step);
  const ids = { accountId, keyId: drawOne(draw, ["one", "other"]) };
  const keyLimits = { requestsPerMinute: 30, tokensPerMinute: 900, concurrentRequests: 8 };
  const request = { ...ids, keyLimits, accountLimits: {}, tokens: drawInteger(draw, 0, 60) };
  const release = { ...ids, lease: `lease ${past}`, second: seconds[past], requests: 0, tokens: -1 };
  const offline = [{ ageMs: past * 9, requests: 2, tokens: past }];
  return drawOne<(store: RedisStore) => Promise<unknown>>(draw, [
    (store) => store.admit(request, `lease ${step}`),
    (store) => store.admit(request, `lease ${step}`),
    (store) => store.settle(release),
    (store) => store.renew(ids, `lease ${past}`),
    (store) => store.usage(ids),
    (store) => store.restore(ids, `restoration ${step}`, offline),
  ]);
}
