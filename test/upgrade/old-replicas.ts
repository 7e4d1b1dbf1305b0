import type { SQL } from "bun";
import { readPostgresUrl } from "../../src/db/postgres/connection.ts";
import { ensurePartitions } from "../../src/db/postgres/partitions.ts";

/** Settled receipts with their transfers, in one wallet, spread over the hours before `atMs`. */
export async function fillReceipts(client: SQL, count: number, atMs: number): Promise<void> {
  await client.unsafe("INSERT INTO wallets VALUES ('busy', 1000000000000, 0, 0, 'open', $1, $2)", [
    count,
    atMs,
  ]);
  const spread = `lpad(to_hex($2::bigint - 7200000 + i * 7200000 / $1::bigint), 12, '0')`;
  const id = `(substr(${spread}, 1, 8) || '-' || substr(${spread}, 9) || '-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid`;
  await client.unsafe(
    `INSERT INTO holds (wallet_id, hold_id, key_id, state, late, requested, minimum, granted, accrued, captured,
        refunded, ttl_ms, created_at_ms, expires_at_ms, surface, model)
      SELECT 'busy', ${id}, 'k', 'settled', false, 1, 1, 1, 0, 1, 0, 1, $2::bigint, $2::bigint, 'chat', 'demo'
        FROM generate_series(1, $1::bigint) AS i`,
    [count, atMs],
  );
  await client.unsafe(
    `INSERT INTO transfers (wallet_id, seq, transfer_id, kind, debit_account, credit_account, amount,
        posted_after, created_at_ms)
      SELECT 'busy', i, 't' || i, 1 + i % 2, 1, 2, 1, 1, $2::bigint FROM generate_series(1, $1::bigint) AS i`,
    [count, atMs],
  );
}

export interface OldReplica {
  /** The number of transactions answered so far. */
  answered(): number;
  /** Ends the load. Returns its answered transactions, the longest in milliseconds, and its errors. */
  stop(): Promise<{
    readonly answered: number;
    readonly slowestMs: number;
    readonly errors: readonly string[];
  }>;
}

/** Sends the transactions of an older gateway, with columns that every schema has: batches and reads. */
export function startOldReplica(url: string, name: string): OldReplica {
  const client = readPostgresUrl(url)({ max: 3 });
  const ending = new AbortController();
  const errors: string[] = [];
  let answered = 0;
  let slowestMs = 0;
  const repeat = async (transact: (tx: SQL, round: number) => Promise<unknown>) => {
    for (let round = 0; !ending.signal.aborted; round++) {
      const begunAtMs = performance.now();
      await client.begin((tx) => transact(tx, round)).catch((error) => errors.push(String(error)));
      slowestMs = Math.max(slowestMs, performance.now() - begunAtMs);
      answered++;
    }
  };
  const loops = [
    repeat((tx, round) => settle(tx, `${name}-${round}`)),
    repeat(readAcrossTables),
    repeat(async (tx) => {
      await Bun.sleep(200);
      await ensurePartitions(tx, Date.now());
    }),
  ];
  return {
    answered: () => answered,
    async stop() {
      ending.abort();
      await Promise.all(loops);
      await client.close();
      return { answered, slowestMs, errors };
    },
  };
}

/** The order of a batch: its wallet, the holds that it reads, then what it writes. */
async function settle(tx: SQL, walletId: string): Promise<void> {
  await tx.unsafe("INSERT INTO wallets VALUES ($1, 5, 0, 0, 'open', 1, 1)", [walletId]);
  await tx.unsafe("SELECT granted FROM holds WHERE wallet_id = $1 FOR UPDATE", [walletId]);
  await Bun.sleep(3);
  await tx.unsafe(
    `INSERT INTO holds (wallet_id, hold_id, key_id, state, late, requested, minimum, granted, accrued, captured,
        refunded, ttl_ms, created_at_ms, expires_at_ms, surface, model)
      VALUES ($1, $2, 'k', 'settled', false, 1, 1, 1, 0, 1, 0, 1, 1, 1, 'chat', 'demo')`,
    [walletId, Bun.randomUUIDv7()],
  );
  await tx.unsafe("INSERT INTO transfers VALUES ($1, 1, 'a', 2, 1, 2, 1, 1, NULL, 1)", [walletId]);
}

/** A read in an order that no migration takes. */
async function readAcrossTables(tx: SQL): Promise<void> {
  await tx.unsafe("SELECT count(*) FROM holds WHERE wallet_id = 'busy' AND state = 'held'");
  await Bun.sleep(3);
  await tx.unsafe("SELECT id FROM accounts LIMIT 1");
  await tx.unsafe("SELECT seq FROM transfers WHERE wallet_id = 'busy' LIMIT 1");
}
