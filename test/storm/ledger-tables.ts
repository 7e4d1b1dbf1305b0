import { Database } from "bun:sqlite";

/** A receipt as stored, read without any code of the gateway. */
export interface StoredReceipt {
  readonly id: string;
  readonly state: string;
  /** In nano-USD. */
  readonly captured: bigint;
  readonly outcome: string | null;
  readonly source: string | null;
  readonly upstream: string | null;
  readonly inputTokens: bigint | null;
  readonly outputTokens: bigint | null;
  readonly attempts: string | null;
}

interface StoredWallet {
  readonly posted: bigint;
  readonly held: bigint;
  /** The sum captured by the receipts of the wallet. */
  readonly captured: bigint;
}

export interface StoredLedger {
  readonly receipts: readonly StoredReceipt[];
  readonly wallets: readonly StoredWallet[];
}

/** Reads the ledger tables of a stopped gateway. */
export function readLedgerTables(path: string): StoredLedger {
  const client = new Database(path, { readwrite: true, safeIntegers: true });
  try {
    return {
      receipts: client
        .query<StoredReceipt, []>(
          `SELECT hold_id AS id, state, captured, outcome, source, upstream,
            input_tokens AS inputTokens, output_tokens AS outputTokens, attempts FROM holds`,
        )
        .all(),
      wallets: client
        .query<StoredWallet, []>(
          `SELECT posted, held,
            (SELECT coalesce(sum(captured), 0) FROM holds WHERE holds.wallet_id = wallets.wallet_id) AS captured
            FROM wallets`,
        )
        .all(),
    };
  } finally {
    client.close();
  }
}
