import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createThrottle, type Throttle } from "../../../src/accounts/people/throttle.ts";
import type { Limiter } from "../../../src/limiter/limiter.ts";
import { createRedisLimiter } from "../../../src/limiter/redis/limiter.ts";
import { connectRedis } from "../../../src/limiter/redis/server.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { type CapturedLog, createCapturedLog } from "../../support/captured-log.ts";
import { type RedisServer, startRedisServer } from "../../support/redis-server.ts";
import { TEST_MS } from "../../support/timeouts.ts";
import { until } from "../../support/until.ts";

const fail = () => Promise.reject(new Error("wrong"));

/** Makes failing attempts at the throttles in turn. Returns how many were let through. */
async function failures(throttles: readonly Throttle[], count: number, address: string): Promise<number> {
  let passed = 0;
  for (let index = 0; index < count; index++) {
    const throttle = throttles[index % throttles.length];
    const thrown = await throttle?.("sign-in", { address }, fail).catch((error) => error);
    if (thrown.message === "wrong") passed += 1;
    else expect(thrown).toMatchObject({ kind: "sign_in_throttled" });
  }
  return passed;
}

/** Waits until the log tells of no outage, or of its end. */
function untilBack(log: CapturedLog): Promise<void> {
  return until(() => log.text().lastIndexOf("Redis is back") >= log.text().lastIndexOf("Redis is away"));
}

describe("the throttles of two gateways with one Redis", () => {
  let redis: RedisServer;
  const limiters: Limiter[] = [];
  beforeAll(async () => {
    redis = await startRedisServer();
  });
  afterAll(async () => {
    for (const limiter of limiters) limiter.close();
    await redis.stop();
  });

  async function openGateway(onFailure: "local" | "deny") {
    const log = createCapturedLog();
    const connection = connectRedis(redis.location);
    const metrics = createMetrics().limiter;
    const options = { connection, onFailure, replicas: () => 1, log, metrics, timeoutMs: TEST_MS };
    const limiter = createRedisLimiter(options);
    limiters.push(limiter);
    await limiter.start();
    // On a busy machine, Redis may come after the second that a start waits for it.
    await untilBack(log);
    return { throttle: createThrottle(() => limiter), log };
  }

  test("count together, count alone while it is away, and together again", async () => {
    const [local, other, denying] = await Promise.all([
      openGateway("local"),
      openGateway("local"),
      openGateway("deny"),
    ]);
    const both = [local.throttle, other.throttle];
    expect(await failures(both, 14, "192.0.2.1")).toBe(10);
    expect(await failures([denying.throttle], 2, "192.0.2.1")).toBe(0);
    // A correct password is no guess, on either.
    for (const throttle of both) await throttle("sign-in", { address: "192.0.2.2" }, async () => undefined);
    expect(await failures(both, 14, "192.0.2.2")).toBe(10);

    await redis.kill();
    // Under `deny` requests are refused, but an operator can still sign in, and nobody can guess for ever.
    expect(await failures([denying.throttle], 14, "192.0.2.3")).toBe(10);
    const signIn = denying.throttle("sign-in", { address: "192.0.2.4" }, async () => "in");
    expect(await signIn).toBe("in");
    for (const throttle of both) expect(await failures([throttle], 14, "192.0.2.5")).toBe(10);

    await redis.start();
    for (const { log } of [local, other]) await untilBack(log);
    // What each has let through meanwhile counts for both.
    expect(await failures(both, 4, "192.0.2.5")).toBe(0);
    expect(await failures(both, 14, "192.0.2.6")).toBe(10);
  });
});
