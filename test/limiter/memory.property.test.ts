import { openMemoryLimiter } from "./contract/memory.ts";
import { describeProperties } from "./contract/properties.ts";

describeProperties("whatever happens to a limiter in process", openMemoryLimiter, { runs: 200 });
