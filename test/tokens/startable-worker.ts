import { parentPort } from "node:worker_threads";

// Cannot start before the variable is set. Then counts every text as 7 tokens.
if (process.env.TEST_WORKER_MAY_START !== "yes") throw new Error("cannot start yet, on purpose");
parentPort?.on("message", () => parentPort?.postMessage(7));
