import { describeProperties } from "./contract/properties.ts";
import { openOnRedis } from "./contract/redis.ts";

describeProperties("three limiters on one Redis after any history", openOnRedis, {
  runs: Number(Bun.env.TEST_LIMITER_RUNS ?? 20),
});
