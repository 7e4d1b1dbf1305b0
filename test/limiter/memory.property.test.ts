import { openInProcess } from "./contract/in-process.ts";
import { describeProperties } from "./contract/properties.ts";

describeProperties("whatever happens to a limiter in process", openInProcess, { runs: 200 });
