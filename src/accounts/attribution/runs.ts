import { and, count, eq } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { DAY_MS } from "../../domain/id-time.ts";
import type { Nanos } from "../../domain/money.ts";
import { platform } from "../../platform.ts";

/** The runs with a limit that a key may begin on a UTC day. */
const RUNS_OF_A_DAY_MAX = 10_000;

/** A run that a request begins with a limit. */
interface NewRun {
  readonly accountId: string;
  readonly keyId: string;
  readonly runId: string;
  readonly amount: Nanos;
}

/**
 * Stores a run and returns its limit: that of the request that came first. Returns `undefined` when the key has begun
 * as many runs as it may in a day.
 */
export type StoreRun = (run: NewRun) => Promise<Nanos | undefined>;

interface RunParts {
  readonly database: Database;
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** Default: 10,000. */
  readonly runsMax?: number;
}

/** On PostgreSQL, runs that begin at one moment may exceed the maximum by a few. */
export function createRunStore({
  database,
  now = platform.now,
  runsMax = RUNS_OF_A_DAY_MAX,
}: RunParts): StoreRun {
  const { runs } = database.tables;
  return ({ accountId, keyId, runId, amount }) =>
    database.transact(async (tx) => {
      const day = Math.floor(now() / DAY_MS);
      const isRun = and(eq(runs.keyId, keyId), eq(runs.runId, runId));
      const find = async () => (await tx.select({ amount: runs.amount }).from(runs).where(isRun))[0]?.amount;
      const stored = await find();
      if (stored !== undefined) return stored;
      const isOfDay = and(eq(runs.keyId, keyId), eq(runs.day, day));
      const [begun] = await tx.select({ runs: count() }).from(runs).where(isOfDay);
      if ((begun?.runs ?? 0) >= runsMax) return undefined;
      await tx.insert(runs).values({ accountId, keyId, runId, amount, day }).onConflictDoNothing();
      return find();
    });
}
