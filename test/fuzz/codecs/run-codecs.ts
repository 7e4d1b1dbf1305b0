import { answerOf } from "../cases/fuzz-answer.ts";
import { caseOf } from "../cases/fuzz-case.ts";
import { type CaseId, shrink } from "../cases/steps.ts";
import type { CaseRange } from "../env/play-cases.ts";
import { answerRequestOf, readAndPass } from "./answer-codecs.ts";
import { type HugeBodySize, hugeBodiesOf } from "./huge-bodies.ts";
import { readAndPrint } from "./request-codecs.ts";

export interface CodecsResult {
  /** Number of requests encoded for an upstream, and of answers encoded for a client. */
  readonly printed: number;
  readonly passed: number;
  /** The first wrong cases, minimised. */
  readonly violations: readonly string[];
  readonly slowestMs: number;
}

const WHOLE: ReadonlySet<string> = new Set();
const VIOLATIONS_MAX = 10;

/** Runs a range of cases through the codecs, without a gateway. */
export async function runCodecs({ seed, first, count }: CaseRange): Promise<CodecsResult> {
  const violations: string[] = [];
  const counts = { printed: 0, passed: 0 };
  let slowestMs = 0;
  for (let number = first; number < first + count && violations.length < VIOLATIONS_MAX; number += 1) {
    const id = { seed, number, without: WHOLE };
    for (const run of RUNS) {
      const startedAt = performance.now();
      const fault = faultOf(() => {
        counts[run.name] += run.run(id);
      });
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
      if (fault !== undefined) violations.push(await describe(id, run));
    }
  }
  return { ...counts, violations, slowestMs };
}

/** Decodes and encodes huge bodies. Returns the failures and the slowest body. */
export function runHugeBodies(size: HugeBodySize): {
  readonly violations: readonly string[];
  readonly slowest: string;
} {
  const violations: string[] = [];
  let slowest = { name: "none", ms: 0 };
  for (const { name, client, body } of hugeBodiesOf(size)) {
    const startedAt = performance.now();
    const id = { seed: name, number: 0, without: WHOLE };
    const fault = faultOf(() => void readAndPrint({ id, client, body: Buffer.from(body) }));
    if (fault !== undefined) violations.push(`${name}: ${fault}`);
    const ms = performance.now() - startedAt;
    if (ms > slowest.ms) slowest = { name, ms };
  }
  return { violations, slowest: `${slowest.name}: ${slowest.ms.toFixed(0)} ms` };
}

interface Run {
  readonly name: "printed" | "passed";
  run(id: CaseId): number;
  stepsOf(id: CaseId): readonly string[];
  print(id: CaseId): string;
}

const RUNS: readonly Run[] = [
  {
    name: "printed",
    run: (id) => readAndPrint(caseOf(id)),
    stepsOf: (id) => caseOf(id).steps,
    print: (id) => `${caseOf(id).client} body: ${caseOf(id).body.toString()}`,
  },
  {
    name: "passed",
    run: (id) => (readAndPass(id) ? 1 : 0),
    stepsOf: (id) => answerOf(id, answerRequestOf(id)).steps,
    print(id) {
      const asked = answerRequestOf(id);
      const body = Buffer.from(answerOf(id, asked).answer.body).toString();
      return `${asked.stream ? "stream" : "whole"} of ${asked.format}: ${body}`;
    },
  },
];

function faultOf(act: () => void): string | undefined {
  try {
    act();
    return undefined;
  } catch (thrown) {
    return thrown instanceof Error ? (thrown.stack ?? thrown.message) : "something that is no error";
  }
}

async function describe(id: CaseId, { run, stepsOf, print }: Run): Promise<string> {
  const isViolation = (without: ReadonlySet<string>) => faultOf(() => run({ ...id, without })) !== undefined;
  const small = { ...id, without: await shrink(stepsOf(id), isViolation) };
  const what = faultOf(() => run(small));
  return `case ${id.number} of seed ${id.seed}, without a gateway: ${what}\n  ${clip(print(small))}`;
}

const SHOWN_CHARS = 5_000;

function clip(text: string): string {
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)}… (${text.length} characters)`;
}
