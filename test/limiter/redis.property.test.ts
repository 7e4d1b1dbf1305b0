import { describeProperties } from "./contract/properties.ts";
import { openOnRedis } from "./contract/redis.ts";

describeProperties("whatever happens to three limiters on one Redis", openOnRedis, { runs: 40 });
