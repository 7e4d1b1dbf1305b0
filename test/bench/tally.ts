import { faultOf } from "./answers.ts";
import type { Answer } from "./response-parser.ts";

/** What a run got for answers: a wrong one is a fault, so that nothing broken can look fast. */
export interface Tally {
  /** Answers that were complete, had status 200 and, when looked into, the right body. */
  readonly answers: number;
  /** The first faults in words, without anything of a body. */
  readonly faults: readonly string[];
}

export interface TallyKeeper {
  count(answer: Answer): void;
  fail(reason: string): void;
  /** Whether the next answer's body is to be looked into: the first ones and then one in a hundred. */
  isLookedInto(): boolean;
  sum(): Tally;
}

const LOOKED_INTO_FIRST = 50;
const LOOKED_INTO_EVERY = 100;
const FAULTS_KEPT = 5;

export function createTally(isStream: boolean): TallyKeeper {
  const faults: string[] = [];
  let answers = 0;
  let asked = 0;

  function fail(reason: string): void {
    if (faults.length < FAULTS_KEPT) faults.push(reason);
  }

  return {
    fail,
    count({ status, body }) {
      const fault = status === 200 ? body && faultOf(body, isStream) : `status ${status}`;
      if (fault) fail(fault);
      else answers += 1;
    },
    isLookedInto() {
      asked += 1;
      return asked <= LOOKED_INTO_FIRST || asked % LOOKED_INTO_EVERY === 0;
    },
    sum: () => ({ answers, faults }),
  };
}
