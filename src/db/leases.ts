import { and, eq, gt, lt, type SQL, sql } from "drizzle-orm";
import { platform } from "../platform.ts";
import type { Database } from "./database.ts";

/** One background job, and the process that wants to run it. */
export interface Lease {
  readonly job: string;
  /** Unique per process, such as a random UUID. */
  readonly holder: string;
  /** How long the lease outlives its last renewal: a killed holder is replaced after that. */
  readonly ms: number;
}

/**
 * Takes or renews the lease of a job. Returns whether this holder has it until `now + ms`. Holders compare
 * their own clocks: `ms` must be well above their difference. Rejects when the database is unavailable.
 */
export async function tryLease(
  { transact, tables: { leases } }: Database,
  { job, holder, ms }: Lease,
  now: () => number = platform.now,
): Promise<boolean> {
  const nowMs = now();
  const row = { job, holder, expiresAtMs: nowMs + ms };
  const { holder: other, expiresAtMs: end } = leases;
  // An end that is too far away was written before a clock was set back.
  const isFree: SQL = sql`${eq(other, holder)} OR ${lt(end, nowMs)} OR ${gt(end, nowMs + 10 * ms)}`;
  const taken = await transact((tx) =>
    tx
      .insert(leases)
      .values(row)
      .onConflictDoUpdate({ target: leases.job, set: row, setWhere: isFree })
      .returning({ holder: other }),
  );
  return taken.length > 0;
}

/** Gives a lease back, so that another process need not wait for its end. */
export async function endLease(
  { transact, tables: { leases } }: Database,
  { job, holder }: Pick<Lease, "job" | "holder">,
): Promise<void> {
  const isOwn = and(eq(leases.job, job), eq(leases.holder, holder));
  await transact(async (tx) => void (await tx.delete(leases).where(isOwn)));
}
