import { parentPort } from "node:worker_threads";

// Takes its time before it is ready, as the real one does on a loaded machine, and counts every text as 7 tokens.
await Bun.sleep(600);
parentPort?.on("message", () => parentPort?.postMessage(7));
parentPort?.postMessage("ready");
