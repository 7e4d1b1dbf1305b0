import { parentPort } from "node:worker_threads";

// Cannot start before the variable is set, and counts every text as 7 tokens then.
if (process.env.TEST_WORKER_MAY_START !== "yes") throw new Error("not yet, on purpose");
parentPort?.on("message", () => parentPort?.postMessage(7));
parentPort?.postMessage("ready");
