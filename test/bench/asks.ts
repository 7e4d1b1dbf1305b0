import { type Percentiles, percentilesOf } from "./percentiles.ts";
import { createTally, type TallyKeeper } from "./tally.ts";

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
