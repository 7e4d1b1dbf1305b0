import { parentPort } from "node:worker_threads";
import { countTokens, setMergeCacheSize } from "gpt-tokenizer/encoding/o200k_base";
import { countPieces } from "./count-pieces.ts";

/** What the worker is asked: a text, and how long it may look at it. */
export interface CountQuestion {
  readonly text: string;
  readonly msMax: number;
}

/** What it says: once that its tables are loaded, then one number of tokens per question. */
export type CountAnswer = "ready" | number;

// A special token in a text is text: a user who writes "<|endoftext|>" ends nothing.
const NO_SPECIAL = { disallowedSpecial: new Set<string>() };

/** Words that are kept with their tokens; hostile ones take 2 KB each. */
const MERGES_MAX = 4_000;

setMergeCacheSize(MERGES_MAX);

parentPort?.on("message", ({ text, msMax }: CountQuestion) => {
  const lateAtMs = performance.now() + msMax;
  const count = (piece: string) => countTokens(piece, NO_SPECIAL);
  answer(countPieces(text, count, () => performance.now() > lateAtMs));
});

// Loading leaves 60 MB of garbage, which would stay for as long as nothing is counted.
Bun.gc(true);
answer("ready");

function answer(message: CountAnswer): void {
  parentPort?.postMessage(message);
}
