import { faultOf } from "./answers.ts";
import type { Answer } from "./connection.ts";

/** Latencies in milliseconds. */
export interface Percentiles {
  readonly p50: number;
  readonly p99: number;
}

export function percentilesOf(latenciesMs: readonly number[]): Percentiles {
  const sorted = Float64Array.from(latenciesMs).sort();
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

/** The middle one, or the mean of the middle two. */
export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2;
}

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

/** One kind of request, counted under its label. */
export interface Ask {
  readonly label: string;
  readonly model: string;
  readonly stream: boolean;
}

/** From the moment a request was due. */
export interface Timings {
  readonly answers: number;
  readonly firstByteMs: Percentiles;
  readonly latencyMs: Percentiles;
}

/** What came of the requests of one label. */
export interface AskRecord {
  readonly label: string;
  readonly tally: TallyKeeper;
  readonly firstBytesMs: number[];
  readonly latenciesMs: number[];
}

export function createRecord({ label, stream }: Ask): AskRecord {
  return { label, tally: createTally(stream), firstBytesMs: [], latenciesMs: [] };
}

/** All records together, and each by its label. */
export function sumUp(records: readonly AskRecord[]) {
  const sums = records.map(({ tally }) => tally.sum());
  return {
    answers: sums.reduce((sum, { answers }) => sum + answers, 0),
    faults: sums.flatMap(({ faults }) => faults),
    latencyMs: percentilesOf(records.flatMap(({ latenciesMs }) => latenciesMs)),
    byLabel: Object.fromEntries(records.map((record) => [record.label, timingsOf(record)])),
  };
}

function timingsOf({ firstBytesMs, latenciesMs }: AskRecord): Timings {
  return {
    answers: latenciesMs.length,
    firstByteMs: percentilesOf(firstBytesMs),
    latencyMs: percentilesOf(latenciesMs),
  };
}
