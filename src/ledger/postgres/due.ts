import type { SQL } from "bun";
import type { PostgresDatabase } from "../../db/postgres/database.ts";
import { ensurePartitions } from "../../db/postgres/partitions.ts";
import type { ExpireRequest } from "../command.ts";
import { createSession } from "./session.ts";

const HOUR_MS = 3_600_000;

/** Finds what is to be swept, over a connection of its own. */
export interface DueRead {
  /** The open holds whose time is up, the longest due first. */
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
    const rows: DueRow[] = await client.unsafe(DUE, [now?.() ?? null, limit]);
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

const DUE = `SELECT wallet_id, hold_id FROM holds WHERE state = 'held'
    AND expires_at_ms <= coalesce($1::bigint, (extract(epoch FROM now()) * 1000)::bigint)
  ORDER BY expires_at_ms LIMIT $2::bigint`;
