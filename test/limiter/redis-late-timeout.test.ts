import { expect, test } from "bun:test";
import { createRedisLimiter } from "../../src/limiter/redis/limiter.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { until } from "../support/until.ts";
import { connectClocked } from "./contract/redis.ts";
import { createManualClock } from "./manual-clock.ts";

type Reply = "never" | "fails";

// Regression: its admission reached Redis at the next outage only, and Redis admitted too many until then.
test("a request whose timeout outlasts an outage counts in Redis at once", async () => {
  const redis = await connectClocked(createManualClock());
  const replies: Reply[] = ["never", "fails"];
  const { client } = redis.connection;
  const callBuffer = (...args: Parameters<typeof client.callBuffer>) => {
    const reply = replies.shift();
    if (reply === "never") return Promise.withResolvers<unknown>().promise;
    return reply === "fails" ? Promise.reject(new Error("reset")) : client.callBuffer(...args);
  };
  const limiter = createRedisLimiter({
    connection: { ...redis.connection, client: Object.assign(Object.create(client), { callBuffer }) },
    clockLua: redis.clockLua,
    timeoutMs: 1_000,
    onFailure: "local",
    replicas: () => 1,
    log: createCapturedLog(),
    metrics: createMetrics({}).limiter,
  });
  const [accountId, keyId] = [crypto.randomUUID(), crypto.randomUUID()];
  const request = { accountId, keyId, keyLimits: { requestsPerMinute: 9 }, accountLimits: {}, tokens: 0 };
  const used = async () => 9 - ((await limiter.usage(request)).requests?.remaining ?? 9);

  const late = limiter.admit(request);
  await until(() => replies.length === 1);
  expect(await limiter.admit(request)).toMatchObject({ admitted: true });
  expect(await late).toMatchObject({ admitted: true });
  await until(async () => (await used()) === 2);
  // A busy machine may need more than a second for an answer of Redis, and the limiter is local for as long.
  await until(async () => (await limiter.status()).mode === "shared");
  await redis.close();
  limiter.close();
});
