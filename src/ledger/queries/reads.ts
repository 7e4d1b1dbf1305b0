import type { LedgerReads } from "../ledger.ts";
import type { Ask, Dialect } from "./query.ts";
import { createReceiptList, createReceiptRead } from "./receipts.ts";
import { createSpendLimitList } from "./spend-limits.ts";
import { createTransferList } from "./transfers.ts";
import { createUsageRead } from "./usage.ts";
import { createBalancesRead, createWalletList, createWalletRead } from "./wallets.ts";

/** Books that can be asked. */
export interface AskableBooks {
  readonly dialect: Dialect;
  /** For one or a few rows behind an index, by the way of which nothing waits. */
  readonly askBriefly: Ask;
  /** For what may look at many rows. */
  readonly askAtLength: Ask;
}

/** The reads of a ledger, the same in every store: each writes its statement, and reads the rows. */
export function createLedgerReads(books: AskableBooks, now: () => number): LedgerReads {
  const { dialect, askBriefly, askAtLength } = books;
  return {
    balances: createBalancesRead(askBriefly, dialect),
    wallet: createWalletRead(askBriefly, dialect),
    spendLimits: createSpendLimitList(askBriefly, dialect, now),
    receipt: createReceiptRead(askBriefly, dialect),
    wallets: createWalletList(askAtLength, dialect),
    receipts: createReceiptList(askAtLength, dialect),
    transfers: createTransferList(askAtLength, dialect),
    usage: createUsageRead(askAtLength, dialect),
  };
}
