import type { SQL } from "bun";
import type { PostgresDatabase } from "../../db/postgres/database.ts";
import { ensurePartitions } from "../../db/postgres/partitions.ts";
import { HOUR_MS } from "../../domain/id-time.ts";
import type { ExpireRequest } from "../core/command.ts";
import { CLOCK_SKEW_MAX_MS } from "../core/settle.ts";
import { createSession } from "./session.ts";

/** Finds the holds to sweep, over a connection of its own. */
export interface DueRead {
  /** See {@link Store.findDue}. */
  find(limit: number): Promise<readonly ExpireRequest[]>;
  close(): Promise<void>;
}

/** The longest search. Without a bound, a server that no longer answers would block every later sweep. */
const SEARCH_MS = 10_000;

/**
 * Every hour, the search first creates the partitions of the months ahead. One search runs at a time, because
 * they share the connection.
 */
export function createDueRead(
  database: Pick<PostgresDatabase, "connect">,
  now: (() => number) | undefined,
  searchMaxMs = SEARCH_MS,
): DueRead {
  const session = createSession(database, { statement_timeout: "8s" });
  let last: Promise<unknown> = Promise.resolve();
  let partitionedAtMs = Number.NEGATIVE_INFINITY;

  const search = async (client: SQL, limit: number) => {
    // A monotonic clock: after a correction of the wall clock, an hour could last much longer.
    const uptimeMs = performance.now();
    if (uptimeMs - partitionedAtMs >= HOUR_MS) {
      // Set first, so that a failure to create partitions fails one sweep an hour and not every sweep.
      partitionedAtMs = uptimeMs;
      await ensurePartitions(client, Date.now());
    }
    const due: DueRow[] = await client.unsafe(DUE, [now?.() ?? null, limit]);
    const ahead: DueRow[] = await client.unsafe(AHEAD, [now?.() ?? null, limit, CLOCK_SKEW_MAX_MS]);
    const rows = [...due, ...ahead].slice(0, limit);
    return rows.map((row) => ({ walletId: row.wallet_id, holdId: row.hold_id }));
  };

  return {
    find(limit) {
      const found = last.then(() => session.run(searchMaxMs, ({ client }) => search(client, limit)));
      last = found.catch(() => undefined);
      return found;
    },
    close: session.close,
  };
}

interface DueRow {
  readonly wallet_id: string;
  readonly hold_id: string;
}

const NOW_MS = "coalesce($1::bigint, (extract(epoch FROM now()) * 1000)::bigint)";

const DUE = `SELECT wallet_id, hold_id FROM holds WHERE state = 'held' AND expires_at_ms <= ${NOW_MS}
  ORDER BY expires_at_ms LIMIT $2::bigint`;

const AHEAD = `SELECT wallet_id, hold_id FROM
    (SELECT wallet_id, hold_id, created_at_ms, expires_at_ms, ttl_ms FROM holds WHERE state = 'held'
      ORDER BY expires_at_ms DESC LIMIT $2::bigint) AS last_to_expire
  WHERE created_at_ms > ${NOW_MS} + $3::bigint AND expires_at_ms > ${NOW_MS} + ttl_ms`;
