import { parentPort } from "node:worker_threads";

// Takes 3 s to start, as the real worker does on a loaded machine. Then counts every text as 7 tokens.
await Bun.sleep(3_000);
parentPort?.on("message", () => parentPort?.postMessage(7));
