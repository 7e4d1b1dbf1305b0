import type { LedgerReads } from "../records.ts";
import type { Dialect, RunQuery } from "./query.ts";
import { createReceiptList, createReceiptRead } from "./receipts.ts";
import { createSpendLimitList } from "./spend-limits.ts";
import { createTransferList } from "./transfers.ts";
import { createUsageRead } from "./usage.ts";
import { createBalancesRead, createWalletList, createWalletRead } from "./wallets.ts";

/** A ledger's database, for reads. */
export interface LedgerDatabase {
  readonly dialect: Dialect;
  /** For queries of a few rows behind an index. May run on the event loop. */
  readonly runShort: RunQuery;
  /** For queries that may scan many rows. */
  readonly runLong: RunQuery;
}

/** Creates the reads of a ledger. Both databases share them; only the dialect differs. */
export function createLedgerReads(database: LedgerDatabase, now: () => number): LedgerReads {
  const { dialect, runShort, runLong } = database;
  return {
    balances: createBalancesRead(runShort, dialect),
    wallet: createWalletRead(runShort, dialect),
    spendLimits: createSpendLimitList(runShort, dialect, now),
    receipt: createReceiptRead(runShort, dialect),
    wallets: createWalletList(runLong, dialect),
    receipts: createReceiptList(runLong, dialect),
    transfers: createTransferList(runLong, dialect),
    usage: createUsageRead(runLong, dialect),
  };
}
