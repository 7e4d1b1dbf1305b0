import { NO_CORRECTION, type Release } from "./store.ts";
import { chunked } from "./turns.ts";

/** Endings that Redis could not be told. */
export interface PendingReleases {
  add(ending: Release): void;
  /** Tells all of them; what does not get through is told the next time. Never rejects. */
  tell(settle: Settle): Promise<void>;
}

/** Resolves with whether Redis still had the lease; `undefined` when it could not be told. */
type Settle = (ending: Release) => Promise<boolean | undefined>;

interface Entry {
  ending: Release;
  readonly atMs: number;
  isTold: boolean;
}

/** As long as a lease lives without renewal: what ended longer ago has ended in Redis by itself. */
const OWED_MS = 30_000;
/** Until a server has done what it was sent on connections that were lost since. */
const STRAGGLERS_MS = 1_000;
const ADDED_PER_LOOK = 1_000;

export function createPendingReleases(clock: () => number): PendingReleases {
  const entries = new Map<string, Entry>();
  let added = 0;

  function forgetOld(): void {
    const nowMs = clock();
    for (const [lease, { atMs }] of entries) if (nowMs - atMs >= OWED_MS) entries.delete(lease);
  }

  async function tellOne(settle: Settle, [lease, entry]: readonly [string, Entry]): Promise<void> {
    const isFound = await settle(entry.ending);
    if (isFound === undefined) return;
    if (entry.isTold) entries.delete(lease);
    entry.isTold = true;
    if (isFound) entry.ending = { ...entry.ending, ...NO_CORRECTION };
  }

  async function tellAll(settle: Settle): Promise<void> {
    forgetOld();
    await chunked([...entries], (entry) => tellOne(settle, entry));
  }

  return {
    add(ending) {
      added += 1;
      if (added % ADDED_PER_LOOK === 0) forgetOld();
      if (!entries.has(ending.lease)) entries.set(ending.lease, { ending, atMs: clock(), isTold: false });
    },
    async tell(settle) {
      await tellAll(settle);
      // Again: what was sent on a connection that is lost may be done after what is told on a new one.
      setTimeout(() => void tellAll(settle), STRAGGLERS_MS).unref();
    },
  };
}
