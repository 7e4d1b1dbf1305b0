import type { LedgerReads } from "../records.ts";
import type { RollUpState } from "../usage-records.ts";
import { readCursor } from "./coverage.ts";
import { createCreditList, createCreditTotalsRead } from "./credits.ts";
import { createFullLimitsRead } from "./full-limits.ts";
import { createJournalTotalsRead } from "./journal-sums.ts";
import type { Dialect, RunQuery } from "./query.ts";
import { createReceiptList } from "./receipt-list.ts";
import { createReceiptFind, createReceiptRead } from "./receipts.ts";
import { createRunningHoldList, createRunningTotalsRead } from "./running-holds.ts";
import { createTransferTotalsRead } from "./transfer-totals.ts";
import { createTransferList } from "./transfers.ts";
import { createUsageRead } from "./usage.ts";
import { createBalancesRead, createSpendLimitList, createWalletList, createWalletRead } from "./wallets.ts";

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
    balances: createBalancesRead(runShort, dialect, now),
    wallet: createWalletRead(runShort, dialect, now),
    spendLimits: createSpendLimitList(runShort, dialect, now),
    fullLimits: createFullLimitsRead(runLong, dialect, now),
    receipt: createReceiptRead(runShort, dialect),
    wallets: createWalletList(runLong, dialect, now),
    receiptsById: createReceiptFind(runShort, dialect),
    receipts: createReceiptList(runLong, dialect),
    runningHolds: createRunningHoldList(runLong, dialect),
    runningTotals: createRunningTotalsRead(runLong, dialect),
    credits: createCreditList(runShort, dialect, now),
    transfers: createTransferList(runLong, dialect),
    journalTotals: createJournalTotalsRead(runLong, dialect),
    transferTotals: createTransferTotalsRead(runLong, dialect),
    creditTotals: createCreditTotalsRead(runLong, dialect),
    usage: createUsageRead(runLong, dialect, now),
    rollUps: createRollUpsRead(runShort),
  };
}

/** Reads which hours are summed up. */
function createRollUpsRead(run: RunQuery) {
  return async (): Promise<RollUpState> => {
    const sql = "SELECT usage_cursor.*, (SELECT count(*) FROM usage_stale) AS stale FROM usage_cursor";
    const [row] = await run({ sql, values: [] });
    const { hours } = readCursor(row);
    return {
      closedFromMs: hours.fromMs,
      closedToMs: hours.toMs,
      staleHours: Number(row?.stale ?? 0),
      isBackfilling: hours.fromMs > 0,
    };
  };
}
