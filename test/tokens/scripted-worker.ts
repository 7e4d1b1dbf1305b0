import { parentPort } from "node:worker_threads";
import type { CountQuestion } from "../../src/tokens/count-worker.ts";

// Does what a text tells it to, and counts every other text as 7 tokens.
let questions = 0;

parentPort?.on("message", ({ text }: CountQuestion) => {
  if (text === "throw") throw new Error("broken on purpose");
  if (text === "exit") process.exit(1);
  while (text === "hang") Bun.sleepSync(10);
  questions += 1;
  parentPort?.postMessage(text === "which question is this?" ? questions : 7);
});

parentPort?.postMessage("ready");
