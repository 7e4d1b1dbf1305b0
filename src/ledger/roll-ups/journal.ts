import { sumJournalOf } from "../queries/journal-sums.ts";
import type { RollUpStore } from "./store.ts";

/** A wallet's journal is summed up when this many transfers are not. */
const TRANSFERS_MIN = 5_000;
/** The most transfers that a step adds. */
const TRANSFERS_MAX = 20_000;

/**
 * Adds transfers to the sums of one wallet's journal. Returns whether it has. Transfers never change and are
 * committed in the order of their positions, so that equal positions have equal sums, from every process.
 */
export async function sumJournal(store: RollUpStore): Promise<boolean> {
  const walletId = await findWallet(store);
  if (walletId === undefined) return false;
  const sums = await sumJournalOf(store.run, store.dialect, { walletId, limit: TRANSFERS_MAX });
  return store.writeJournal(walletId, sums);
}

/** Finds a wallet with many transfers that are not summed up. They are numbered without gaps. */
async function findWallet({ run }: RollUpStore): Promise<string | undefined> {
  const sql = `SELECT wallets.wallet_id FROM wallets LEFT JOIN journal_sums USING (wallet_id)
    WHERE last_seq - coalesce(transfers, 0) >= ${TRANSFERS_MIN} ORDER BY last_seq - coalesce(transfers, 0) DESC LIMIT 1`;
  const [row] = await run({ sql, values: [] });
  return row && String(row.wallet_id);
}
