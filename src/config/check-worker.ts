import { parentPort } from "node:worker_threads";
import { type CheckedFile, type CheckOptions, checkFile } from "./file.ts";
import type { Variables } from "./placeholders.ts";
import { createProblems } from "./problems.ts";
import type { Source } from "./source.ts";

/** Arguments of a check. */
export interface CheckQuestion {
  readonly source: Source;
  readonly variables: Variables;
  readonly options: CheckOptions;
}

/** The checked file, or its problems when it has any. */
export type CheckAnswer = { readonly file: CheckedFile } | { readonly problems: readonly string[] };

parentPort?.once("message", ({ source, variables, options }: CheckQuestion) => {
  const problems = createProblems();
  const file = checkFile(source, variables, options, problems);
  const answer: CheckAnswer = problems.list().length > 0 ? { problems: problems.list() } : { file };
  parentPort?.postMessage(answer);
});
