import type { SQL } from "bun";
import type { PostgresDatabase } from "../../db/postgres/database.ts";
import { ensurePartitions } from "../../db/postgres/partitions.ts";
import type { ExpireRequest } from "../core/command.ts";
import { CLOCKS_APART_MS } from "../core/settle.ts";
import { createSession } from "./session.ts";

const HOUR_MS = 3_600_000;

/** Finds what is to be swept, over a connection of its own. */
export interface DueRead {
  /** The open holds that a sweep is to look at, as a store finds them. */
  find(limit: number): Promise<readonly ExpireRequest[]>;
  close(): Promise<void>;
}

/** A server that vanished answers nothing, for ever: without a bound no sweep would come after it. */
const SEARCH_MS = 10_000;

/**
 * Whoever sweeps also makes the partitions of the months ahead, looking once an hour. One search runs at a
 * time, as the connection needs it.
 */
export function createDueRead(
  database: Pick<PostgresDatabase, "connect">,
  now: (() => number) | undefined,
  searchMaxMs = SEARCH_MS,
): DueRead {
  const session = createSession(database, { statement_timeout: "8s" });
  let last: Promise<unknown> = Promise.resolve();
  let lookedAtMs = Number.NEGATIVE_INFINITY;

  const search = async (client: SQL, limit: number) => {
    // By a clock that nobody can set: after a wrong hour was put right, the next look would come that much later.
    const uptimeMs = performance.now();
    if (uptimeMs - lookedAtMs >= HOUR_MS) {
      // First, so that partitions which cannot be made fail one sweep an hour and not every one.
      lookedAtMs = uptimeMs;
      await ensurePartitions(client, Date.now());
    }
    const due: DueRow[] = await client.unsafe(DUE, [now?.() ?? null, limit]);
    const ahead: DueRow[] = await client.unsafe(AHEAD, [now?.() ?? null, limit, CLOCKS_APART_MS]);
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
