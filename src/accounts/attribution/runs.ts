import { and, count, eq, lt } from "drizzle-orm";
import type { Database, Db } from "../../db/database.ts";
import { DAY_MS } from "../../domain/id-time.ts";
import type { Nanos } from "../../domain/money.ts";
import { platform } from "../../platform.ts";
import { endRuns, limitIdOf, type RunLedger, type RunRow } from "./ended-runs.ts";

/** The runs with a limit that a key may begin on a UTC day. */
const RUNS_OF_A_DAY_MAX = 10_000;

/** A run that a request begins with a limit. */
interface NewRun {
  readonly accountId: string;
  readonly keyId: string;
  readonly runId: string;
  readonly amount: Nanos;
}

/** The limit of a run. */
interface RunLimit {
  readonly limitId: string;
  readonly amount: Nanos;
}

/**
 * Stores a run and returns its limit: that of the request that came first. Returns `undefined` when the key has begun
 * as many runs as it may in a day.
 */
export type StoreRun = (run: NewRun) => Promise<RunLimit | undefined>;

interface RunParts {
  readonly database: Database;
  readonly ledger: RunLedger;
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** Default: 10,000. */
  readonly runsMax?: number;
}

/** On PostgreSQL, runs that begin at one moment may exceed the maximum by a few. */
export function createRunStore({
  database,
  ledger,
  now = platform.now,
  runsMax = RUNS_OF_A_DAY_MAX,
}: RunParts): StoreRun {
  return async (run) => {
    for (;;) {
      const stored = await database.transact((tx) => storeRun(database, tx, { run, nowMs: now(), runsMax }));
      if (!stored?.isEnding) return stored && { limitId: limitIdOf(stored), amount: stored.amount };
      // Its id begins another run once nothing of this one is in force.
      await endRuns({ database, ledger, now }, [stored]);
    }
  };
}

interface Storing {
  readonly run: NewRun;
  readonly nowMs: number;
  readonly runsMax: number;
}

/** Returns the stored run, marked as used today; `undefined` for one too many. */
async function storeRun(
  { tables: { runs } }: Database,
  tx: Db,
  { run: { accountId, keyId, runId, amount }, nowMs, runsMax }: Storing,
): Promise<RunRow | undefined> {
  const day = Math.floor(nowMs / DAY_MS);
  const isRun = and(eq(runs.keyId, keyId), eq(runs.runId, runId));
  const find = async () => (await tx.select().from(runs).where(isRun))[0];
  const found = await find();
  if (found && (found.usedDay >= day || found.isEnding)) return found;
  if (found) {
    const isKept = and(isRun, lt(runs.usedDay, day), eq(runs.isEnding, false));
    await tx.update(runs).set({ usedDay: day }).where(isKept);
    const used = await find();
    if (used) return used;
  }
  const isOfDay = and(eq(runs.keyId, keyId), eq(runs.day, day));
  const [begun] = await tx.select({ runs: count() }).from(runs).where(isOfDay);
  if ((begun?.runs ?? 0) >= runsMax) return undefined;
  const times = { day, usedDay: day, begunAtMs: nowMs };
  await tx
    .insert(runs)
    .values({ accountId, keyId, runId, amount, ...times })
    .onConflictDoNothing();
  return find();
}
