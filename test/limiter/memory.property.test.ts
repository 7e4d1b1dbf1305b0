import { openMemoryLimiter } from "./contract/memory.ts";
import { describeProperties } from "./contract/properties.ts";

describeProperties("a limiter in process after any history", openMemoryLimiter, { runs: 200 });
