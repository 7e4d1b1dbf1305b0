import { describe } from "bun:test";
import { describeBadInput } from "./bad-input.ts";
import { describeCharges } from "./charges.ts";
import { describeClosing } from "./closing.ts";
import { describeConcurrency } from "./concurrency.ts";
import { type OpenLedger, useBooks } from "./env.ts";
import { describeExactness } from "./exactness.ts";
import { describeFacts } from "./facts.ts";
import { describeHolds } from "./holds.ts";
import { describeIdempotency } from "./idempotency.ts";
import { describeLimits } from "./limits.ts";
import { describeLists } from "./lists.ts";
import { describeMetadata } from "./metadata.ts";
import { describePages } from "./pages.ts";
import { describePrecedence } from "./precedence.ts";
import { describeReceiptLists } from "./receipt-lists.ts";
import { describeReceipts } from "./receipts.ts";
import { describeSettlements } from "./settlements.ts";
import { describeUsage } from "./usage.ts";

/**
 * The contract of {@link import("../../../src/ledger/ledger.ts").Ledger}, as tests that know nothing but
 * that interface. Every ledger passes it, wherever it keeps its books and whatever lies before them.
 */
export function describeLedger(name: string, open: OpenLedger): void {
  describe(name, () => {
    const books = useBooks(open);
    describeHolds(books);
    describeSettlements(books);
    describeCharges(books);
    describeLimits(books);
    describeIdempotency(books);
    describeExactness(books);
    describeBadInput(books);
    describePrecedence(books);
    describeReceipts(books);
    describeMetadata(books);
    describeFacts(books);
    describeReceiptLists(books);
    describeLists(books);
    describePages(books);
    describeUsage(books);
    describeConcurrency(books);
    describeClosing(open);
  });
}
