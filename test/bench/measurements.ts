import { faultOf } from "./answers.ts";
import type { Answer } from "./connection.ts";

/** Percentiles of latencies, in milliseconds. */
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

/** Returns the middle value, or the mean of the two middle values. */
export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2;
}

/** The answers of a run. A wrong answer is a fault, so that broken code cannot look fast. */
export interface Tally {
  /** Complete answers with status 200 and, when checked, the right body. */
  readonly answers: number;
  /** The first five faults, without any text of a body. */
  readonly faults: readonly string[];
}

export interface TallyKeeper {
  count(answer: Answer): void;
  fail(reason: string): void;
  /** Whether to check the body of the next answer: the first 50, and then one in a hundred. */
  checksNextBody(): boolean;
  sum(): Tally;
}

const CHECKED_FIRST = 50;
const CHECKED_EVERY = 100;
const FAULTS_KEPT = 5;

/** `faultIn` returns what is wrong with a body, or `undefined`. */
export function createTally(faultIn: (body: string) => string | undefined): TallyKeeper {
  const faults: string[] = [];
  let answers = 0;
  let asked = 0;

  function fail(reason: string): void {
    if (faults.length < FAULTS_KEPT) faults.push(reason);
  }

  return {
    fail,
    count({ status, body }) {
      const fault = status === 200 ? body && faultIn(body) : `status ${status}`;
      if (fault) fail(fault);
      else answers += 1;
    },
    checksNextBody() {
      asked += 1;
      return asked <= CHECKED_FIRST || asked % CHECKED_EVERY === 0;
    },
    sum: () => ({ answers, faults }),
  };
}

/** A kind of request with its label. */
export interface BenchRequest {
  readonly label: string;
  readonly model: string;
  readonly stream: boolean;
}

/** Timings from the moment a request was due. */
export interface Timings {
  readonly answers: number;
  readonly firstByteMs: Percentiles;
  readonly latencyMs: Percentiles;
}

/** The answers and timings of one label. */
export interface RequestRecord {
  readonly label: string;
  readonly tally: TallyKeeper;
  readonly firstBytesMs: number[];
  readonly latenciesMs: number[];
}

export function createRecord({ label, stream }: BenchRequest): RequestRecord {
  return { label, tally: createTally((body) => faultOf(body, stream)), firstBytesMs: [], latenciesMs: [] };
}

/** Summarises all records, and each by its label. */
export function summarize(records: readonly RequestRecord[]) {
  const sums = records.map(({ tally }) => tally.sum());
  return {
    answers: sums.reduce((sum, { answers }) => sum + answers, 0),
    faults: sums.flatMap(({ faults }) => faults),
    latencyMs: percentilesOf(records.flatMap(({ latenciesMs }) => latenciesMs)),
    byLabel: Object.fromEntries(records.map((record) => [record.label, timingsOf(record)])),
  };
}

function timingsOf({ firstBytesMs, latenciesMs }: RequestRecord): Timings {
  return {
    answers: latenciesMs.length,
    firstByteMs: percentilesOf(firstBytesMs),
    latencyMs: percentilesOf(latenciesMs),
  };
}
