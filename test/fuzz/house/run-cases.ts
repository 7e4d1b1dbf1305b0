import { caseOf } from "../cases/fuzz-case.ts";
import type { FuzzHouse } from "./fuzz-house.ts";
import { playCase, type Seen } from "./play-case.ts";

/** A stretch of cases of one seed. */
export interface Stretch {
  readonly seed: string;
  readonly first: number;
  readonly count: number;
}

const WHOLE: ReadonlySet<string> = new Set();

/** Plays a stretch of cases, one at a time on each lane. Calls `onSeen` with each as it ends. */
export async function runCases(
  house: FuzzHouse,
  { seed, first, count }: Stretch,
  onSeen: (seen: Seen) => void,
): Promise<void> {
  let next = first;
  await Promise.all(
    house.lanes.map(async (lane) => {
      while (next < first + count) {
        const number = next++;
        onSeen(await playCase(house, lane, caseOf({ seed, number, without: WHOLE })));
      }
    }),
  );
}
