import { describe } from "bun:test";
import { describeBadInput } from "./bad-input.ts";
import { describeCharges } from "./charges.ts";
import { describeClosing } from "./closing.ts";
import { describeConcurrency } from "./concurrency.ts";
import { describeConsoleReads } from "./console-reads.ts";
import { describeCorrections } from "./corrections.ts";
import { describeCreditTotals } from "./credit-totals.ts";
import { describeCredits } from "./credits.ts";
import { type OpenLedger, useLedgerEnv } from "./env.ts";
import { describeExactness } from "./exactness.ts";
import { describeFacts } from "./facts.ts";
import { describeFullLimits } from "./full-limits.ts";
import { describeHolds } from "./holds.ts";
import { describeIdempotency } from "./idempotency.ts";
import { describeLimits } from "./limits.ts";
import { describeLists } from "./lists.ts";
import { describeMetadata } from "./metadata.ts";
import { describePages } from "./pages.ts";
import { describePrecedence } from "./precedence.ts";
import { describeRandomCommands } from "./random-commands.ts";
import { describeReceiptLists } from "./receipt-lists.ts";
import { describeReceipts } from "./receipts.ts";
import { describeScopeInput } from "./scope-input.ts";
import { describeScopeLimits } from "./scope-limits.ts";
import { describeScopes } from "./scopes.ts";
import { describeSettlements } from "./settlements.ts";
import { describeTemplates } from "./templates.ts";
import { describeTransferTotals } from "./transfer-totals.ts";
import { describeTwoProcesses } from "./two-processes.ts";
import { describeUsage } from "./usage.ts";
import { describeWindows } from "./windows.ts";

/**
 * The part of the contract whose errors can depend on both the store and the connection: amounts, texts, pages,
 * repeated and concurrent commands.
 */
export function describeConnectedLedger(name: string, open: OpenLedger): void {
  describe(name, () => {
    const env = useLedgerEnv(open);
    describeIdempotency(env);
    describeExactness(env);
    describePrecedence(env);
    describeFacts(env);
    describePages(env);
    describeConcurrency(env);
    describeClosing(open);
  });
}

/**
 * The contract of {@link import("../../../src/ledger/ledger.ts").Ledger}, as tests that use nothing but
 * that interface. Every ledger must pass it: each store, and each store behind gRPC.
 */
export function describeLedger(name: string, open: OpenLedger): void {
  describe(name, () => {
    const env = useLedgerEnv(open);
    describeHolds(env);
    describeSettlements(env);
    describeCharges(env);
    describeCorrections(env);
    describeCredits(env);
    describeLimits(env);
    describeScopes(env);
    describeScopeLimits(env);
    describeScopeInput(env);
    describeTemplates(env);
    describeWindows(env);
    describeRandomCommands(env);
    describeIdempotency(env);
    describeExactness(env);
    describeBadInput(env);
    describePrecedence(env);
    describeReceipts(env);
    describeMetadata(env);
    describeFacts(env);
    describeReceiptLists(env);
    describeLists(env);
    describePages(env);
    describeUsage(env);
    describeConsoleReads(env);
    describeTransferTotals(env);
    describeCreditTotals(env);
    describeFullLimits(env);
    describeConcurrency(env);
    describeTwoProcesses(env);
    describeClosing(open);
  });
}
