import { parentPort } from "node:worker_threads";
import vocabularyPath from "gpt-tokenizer/data/o200k_base.tiktoken" with { type: "file" };
import { O200K_TOKEN_SPLIT_REGEX } from "gpt-tokenizer/encodingParams/constants";
import { countPieces } from "./estimate.ts";
import { countByVocabulary, readVocabulary } from "./vocabulary.ts";

/**
 * A text, and the time after which the worker estimates the rest of it. The worker answers with the tokens.
 */
export interface CountQuestion {
  readonly text: string;
  readonly msMax: number;
}

const count = countByVocabulary(
  readVocabulary(await Bun.file(vocabularyPath).bytes()),
  O200K_TOKEN_SPLIT_REGEX,
);
// Loading leaves some megabytes of garbage, which would otherwise stay until texts are counted.
Bun.gc(true);

parentPort?.on("message", ({ text, msMax }: CountQuestion) => {
  const lateAtMs = performance.now() + msMax;
  const tokens = countPieces(text, count, () => performance.now() > lateAtMs);
  parentPort?.postMessage(tokens);
});
