import { describeLimiter } from "./contract/describe-limiter.ts";
import { openOnRedis } from "./contract/redis.ts";

describeLimiter("three limiters on one Redis", openOnRedis, { isShared: true });
