import { type Database, SQLiteError } from "bun:sqlite";
import { platform } from "../../platform.ts";

/** How often a transaction is tried again while another process writes, and the pause between. */
const TRIES_MAX = 50;
const PAUSE_MS = 2;

/** Runs `work` in one transaction; `false` rolls it back. Resolves with `false` too when the file stays busy. */
export type ShortTransact = (work: () => boolean) => Promise<boolean>;

/** Short transactions of background jobs on the ledger's connection. They never wait on the event loop. */
export function createShortTransact(client: Database): ShortTransact {
  return async (work) => {
    for (let tries = 1; ; tries++) {
      const done = tryTransact(client, work);
      if (done !== "busy") return done;
      if (tries === TRIES_MAX) return false;
      await platform.sleep(PAUSE_MS);
    }
  };
}

function tryTransact(client: Database, work: () => boolean): boolean | "busy" {
  try {
    client.run("BEGIN IMMEDIATE");
    const isDone = work();
    client.run(isDone ? "COMMIT" : "ROLLBACK");
    return isDone;
  } catch (error) {
    if (client.inTransaction) client.run("ROLLBACK");
    if (error instanceof SQLiteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code ?? "")) return "busy";
    throw error;
  }
}

/** A lease is renewed when this part of it has passed. */
const RENEWED_AFTER = 1 / 3;

export interface JobLeaseParts {
  readonly client: Database;
  readonly transact: ShortTransact;
  readonly now: () => number;
  readonly job: string;
}

/** Takes or renews the lease of a job for some milliseconds. Resolves with `false` while another process has it. */
export function createJobLease({
  client,
  transact,
  now,
  job,
}: JobLeaseParts): (leaseMs: number) => Promise<boolean> {
  const holder = platform.uuid();
  const take = client.query<never, [string, string, number, number, number]>(
    `INSERT INTO leases (job, holder, expires_at_ms) VALUES (?, ?, ?) ON CONFLICT DO UPDATE
      SET holder = excluded.holder, expires_at_ms = excluded.expires_at_ms
      WHERE holder = excluded.holder OR expires_at_ms <= ? OR expires_at_ms > ?`,
  );
  let renewedAtMs = Number.NEGATIVE_INFINITY;
  return async (leaseMs) => {
    const uptimeMs = platform.monotonicMs();
    if (uptimeMs - renewedAtMs < leaseMs * RENEWED_AFTER) return true;
    const nowMs = now();
    const isTaken = await transact(
      () => take.run(job, holder, nowMs + leaseMs, nowMs, nowMs + 2 * leaseMs).changes > 0,
    );
    renewedAtMs = isTaken ? uptimeMs : Number.NEGATIVE_INFINITY;
    return isTaken;
  };
}
