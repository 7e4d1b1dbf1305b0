import { SQL } from "bun";

/** A hold as stored. Amounts in nano-USD. */
export interface StoredReceipt {
  readonly hold_id: string;
  readonly state: string;
  readonly captured: bigint;
  /** The names of its account and of its key. */
  readonly account: string;
  readonly key: string;
}

/** A wallet, and the sums of its transfers. */
export interface StoredWallet {
  readonly account: string;
  readonly posted: bigint;
  readonly held: bigint;
  readonly topped_up: bigint;
  readonly charged: bigint;
}

/** Reads PostgreSQL without the code under test, over a new connection each time. */
export function openBooks(url: string) {
  const query = async <Row>(work: (client: SQL) => Promise<Row[]>) => {
    const client = new SQL(url, { max: 1, bigint: true });
    return work(client).finally(() => client.close());
  };
  return {
    receipts: () =>
      query<StoredReceipt>(
        (
          client,
        ) => client`SELECT hold_id, holds.state, captured, accounts.name AS account, api_keys.name AS key
          FROM holds JOIN accounts ON accounts.id = wallet_id JOIN api_keys ON api_keys.id = key_id`,
      ),
    wallets: () =>
      query<StoredWallet>(
        (client) => client`SELECT accounts.name AS account, posted, held,
            (SELECT coalesce(sum(amount), 0)::bigint FROM transfers t WHERE t.wallet_id = w.wallet_id AND kind = 1)
              AS topped_up,
            (SELECT coalesce(sum(amount), 0)::bigint FROM transfers t
              WHERE t.wallet_id = w.wallet_id AND kind IN (2, 3, 4)) AS charged
          FROM wallets w JOIN accounts ON accounts.id = w.wallet_id`,
      ),
    /** Counts the open holds that expired before a Unix time in milliseconds. */
    async countOpen(expiredBeforeMs = Number.MAX_SAFE_INTEGER) {
      const rows = await query<{ open: bigint }>(
        (client) => client`SELECT count(*) AS open FROM holds
          WHERE state = 'held' AND expires_at_ms < ${expiredBeforeMs}`,
      );
      return Number(rows[0]?.open);
    },
  };
}
