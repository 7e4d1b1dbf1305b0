import { parentPort } from "node:worker_threads";
import { O200K_TOKEN_SPLIT_REGEX } from "gpt-tokenizer/encodingParams/constants";
import { countPieces } from "./count-pieces.ts";
import { countByVocabulary } from "./count-text.ts";
import { readVocabulary } from "./vocabulary.ts";

/** What the worker is asked: a text, and how long it may look at it. */
export interface CountQuestion {
  readonly text: string;
  readonly msMax: number;
}

/** What it says: once that its tables are loaded, then one number of tokens per question. */
export type CountAnswer = "ready" | number;

const file = Bun.file(new URL(import.meta.resolve("gpt-tokenizer/data/o200k_base.tiktoken")));
const count = countByVocabulary(readVocabulary(await file.bytes()), O200K_TOKEN_SPLIT_REGEX);

parentPort?.on("message", ({ text, msMax }: CountQuestion) => {
  const lateAtMs = performance.now() + msMax;
  answer(countPieces(text, count, () => performance.now() > lateAtMs));
});

// Loading leaves some megabytes of garbage, which would stay for as long as nothing is counted.
Bun.gc(true);
answer("ready");

function answer(message: CountAnswer): void {
  parentPort?.postMessage(message);
}
