import { parentPort } from "node:worker_threads";
import type { CountQuestion } from "../../src/tokens/count-worker.ts";

// Executes a text that is a command, and counts every other text as 7 tokens. The empty text is the warm-up.
let questions = 0;
const startedAtMs = performance.now();

parentPort?.on("message", ({ text }: CountQuestion) => {
  if (text === "throw") throw new Error("broken on purpose");
  if (text === "exit") process.exit(1);
  while (text === "hang") Bun.sleepSync(10);
  if (text !== "") questions += 1;
  if (text === "slow") Bun.sleepSync(100);
  parentPort?.postMessage(answerTo(text));
});

function answerTo(text: string): number {
  if (text === "which question is this?") return questions;
  return text === "how long have you been here?" ? Math.round(performance.now() - startedAtMs) : 7;
}
