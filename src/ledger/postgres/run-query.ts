import { SQL } from "bun";
import { LedgerError } from "../ledger.ts";
import type { Query, Row, RunQuery } from "../queries/query.ts";
import { storeErrorOf } from "./faults.ts";

/**
 * The most tries of one query. After a restart of the server, every pooled connection is dead when next used.
 */
const TRIES_MAX = 8;

/** Runs queries over a pool, again when the connection was dead. */
export function createRunQuery(client: SQL): RunQuery {
  const run: (query: Query, tries: number) => Promise<readonly Row[]> = async (query, tries) => {
    try {
      return [...(await client.unsafe(query.sql, [...query.values]))];
    } catch (error) {
      if (tries < TRIES_MAX && wasDead(error)) return run(query, tries + 1);
      throw new LedgerError("unavailable", storeErrorOf(error));
    }
  };
  return (query) => run(query, 1);
}

/** Whether the connection had ended before the query, so that another connection may work. */
function wasDead(error: unknown): boolean {
  if (!(error instanceof SQL.PostgresError)) return false;
  return error.code === "ERR_POSTGRES_CONNECTION_CLOSED" || /^57P0[12]/.test(error.errno ?? "");
}

const NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** The database's clock in Unix milliseconds, which all processes share; `now` replaces it in tests. */
export function createClock(run: RunQuery, now: (() => number) | undefined): () => Promise<number> {
  return async () => {
    if (now) return now();
    const [row] = await run({ sql: `SELECT ${NOW_MS} AS now_ms`, values: [] });
    return Number(row?.now_ms);
  };
}

const LEASE = `INSERT INTO leases AS l (job, holder, expires_at_ms) VALUES ($1, $2, $3) ON CONFLICT (job) DO UPDATE
  SET holder = excluded.holder, expires_at_ms = excluded.expires_at_ms
  WHERE l.holder = excluded.holder OR l.expires_at_ms <= $4 OR l.expires_at_ms > $3 RETURNING 1`;

/** Takes or renews the lease of a job for some milliseconds. Resolves with `false` while another process has it. */
export function createJobLease(
  run: RunQuery,
  { now, job }: { now(): Promise<number>; readonly job: string },
): (leaseMs: number) => Promise<boolean> {
  const holder = crypto.randomUUID();
  return async (leaseMs) => {
    const nowMs = await now();
    const taken = await run({ sql: LEASE, values: [job, holder, nowMs + leaseMs, nowMs] });
    return taken.length > 0;
  };
}
