import { caseOf } from "./cases/fuzz-case.ts";
import { findWrongs, type Trace, traceOf } from "./house/evidence.ts";
import { type FuzzHouse, startFuzzHouse } from "./house/fuzz-house.ts";
import { playCase, type Seen } from "./house/play-case.ts";
import { runCases, type Stretch } from "./house/run-cases.ts";
import { createCounts, printWrong } from "./report.ts";
import { shrink } from "./shrink.ts";

/** What a run through a gateway came to. */
export interface FuzzResult {
  /** Cases that went wrong, the first of them as small as they get, and what is wrong with the books. */
  readonly wrongs: readonly string[];
  readonly counts: ReturnType<typeof createCounts>;
  readonly perSecond: number;
  /** Resident memory after a fifth of the cases and after all, each behind a full collection. */
  readonly memoryMb: { readonly early: number; readonly late: number };
}

const LANES = 32;
const SHRUNK_MAX = 3;
const PRINTED_MAX = 20;

/** Plays a stretch of cases through a gateway of its own, and looks at the books behind them. */
export async function runFuzz({ seed, first, count }: Stretch, lanes = LANES): Promise<FuzzResult> {
  const house = await startFuzzHouse(lanes);
  const counts = createCounts();
  const traces: Trace[] = [];
  const wrong: Seen[] = [];
  const note = (seen: Seen) => {
    counts.add(seen);
    const trace = traceOf(seen);
    if (trace) traces.push(trace);
    else if (wrong.length < PRINTED_MAX) wrong.push(seen);
  };
  const startedAt = performance.now();
  const early = Math.ceil(count / 5);
  await runCases(house, { seed, first, count: early }, note);
  const earlyMb = restingMb();
  await runCases(house, { seed, first: first + early, count: count - early }, note);
  const seconds = (performance.now() - startedAt) / 1000;
  const lateMb = restingMb();
  const inBooks = await findWrongs(house, traces, wrong);
  const small = await shrinkAll(house, wrong);
  await house.stop();
  return {
    wrongs: [...small.map(printWrong), ...inBooks.slice(0, PRINTED_MAX)],
    counts,
    perSecond: count / seconds,
    memoryMb: { early: earlyMb, late: lateMb },
  };
}

async function shrinkAll(house: FuzzHouse, wrong: readonly Seen[]): Promise<readonly Seen[]> {
  const small: Seen[] = [];
  for (const seen of wrong.slice(0, SHRUNK_MAX)) small.push(await shrinkOne(house, seen));
  return [...small, ...wrong.slice(SHRUNK_MAX)];
}

async function shrinkOne(house: FuzzHouse, seen: Seen): Promise<Seen> {
  const [lane] = house.lanes;
  if (!lane) return seen;
  let smallest = seen;
  const steps = [...seen.case.steps, ...seen.calls.flatMap(({ given }) => given.steps)];
  await shrink(steps, async (without) => {
    const again = await playCase(house, lane, caseOf({ ...seen.case.id, without }));
    if (again.wrong === undefined) return false;
    smallest = again;
    return true;
  });
  return smallest;
}

function restingMb(): number {
  Bun.gc(true);
  return process.memoryUsage.rss() / 1e6;
}
