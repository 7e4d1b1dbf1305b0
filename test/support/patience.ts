import { setDefaultTimeout } from "bun:test";
import { TEST_MS } from "./test-ms.ts";

// For a file that is run by itself; the runner of all files passes the limit to Bun.
setDefaultTimeout(TEST_MS);
