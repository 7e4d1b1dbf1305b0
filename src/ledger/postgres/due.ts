import type { SQL } from "bun";
import { ensurePartitions } from "../../db/postgres/partitions.ts";
import type { ExpireRequest } from "../command.ts";

const HOUR_MS = 3_600_000;

/**
 * Finds the open holds whose time is up, the longest due first. Whoever sweeps also makes the partitions
 * of the months ahead, looking once an hour.
 */
export function createDueRead(
  client: SQL,
  now: (() => number) | undefined,
): (limit: number) => Promise<readonly ExpireRequest[]> {
  let lookedAtMs = Number.NEGATIVE_INFINITY;

  return async (limit) => {
    const nowMs = Date.now();
    if (nowMs - lookedAtMs >= HOUR_MS) {
      // First, so that partitions which cannot be made fail one sweep an hour and not every one.
      lookedAtMs = nowMs;
      await ensurePartitions(client, nowMs);
    }
    const rows: DueRow[] = await client.unsafe(DUE, [now?.() ?? null, limit]);
    return rows.map((row) => ({ walletId: row.wallet_id, holdId: row.hold_id }));
  };
}

interface DueRow {
  readonly wallet_id: string;
  readonly hold_id: string;
}

const DUE = `SELECT wallet_id, hold_id FROM holds WHERE state = 'held'
    AND expires_at_ms <= coalesce($1::bigint, (extract(epoch FROM now()) * 1000)::bigint)
  ORDER BY expires_at_ms LIMIT $2::bigint`;
