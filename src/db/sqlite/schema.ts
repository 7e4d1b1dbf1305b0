// Every table, for drizzle-kit, which finds tables by the exports of a file.
import * as accountTables from "../tables/accounts.ts";
import * as consoleTables from "../tables/console.ts";
import * as ledgerTables from "../tables/ledger.ts";
import * as paymentTables from "../tables/payments.ts";
import * as peopleTables from "../tables/people.ts";
import * as planTables from "../tables/plans.ts";
import * as recordingTables from "../tables/recordings.ts";
import * as signInTables from "../tables/sign-in-ways.ts";
import * as usageTables from "../tables/usage.ts";
import { declareTables, SQLITE_COLUMNS } from "./columns.ts";
export const { accounts, apiKeys, tagValues, runs, gateways, instance, projects } = declareTables(
  accountTables,
  SQLITE_COLUMNS,
);
export const {
  people,
  sessions,
  credentials,
  proofs,
  members,
  invitations,
  auditEntries,
  managementKeys,
  idempotentAnswers,
  sharedValues,
  leases,
} = declareTables(peopleTables, SQLITE_COLUMNS);
export const { identities, passkeys, secondFactors } = declareTables(signInTables, SQLITE_COLUMNS);
export const {
  mails,
  refusedRequests,
  routeHours,
  noticeRules,
  notices,
  openNotices,
  subjectCrossings,
  subjectPositions,
  webhookCalls,
  sharedLinks,
} = declareTables(consoleTables, SQLITE_COLUMNS);
export const { planGrants, planInvoices, planOrders, subscriptions } = declareTables(
  planTables,
  SQLITE_COLUMNS,
);
export const { wallets, transfers, credits, holds, spendLimits, limitCounters, forgottenNames } =
  declareTables(ledgerTables, SQLITE_COLUMNS);
export const {
  usageHours,
  usageDays,
  usageTotalHours,
  usageTotalDays,
  usageScopeDays,
  usageStale,
  usageCursor,
  usageFence,
  journalSums,
  retention,
  droppedReceipts,
  droppedCounters,
  usageExports,
  exportPositions,
  exportEnds,
  exportNumbers,
} = declareTables(usageTables, SQLITE_COLUMNS);
export const {
  redeemCodes,
  checkouts,
  autoTopUps,
  autoPayments,
  cardSetups,
  reversals,
  signedDays,
  signedPayments,
} = declareTables(paymentTables, SQLITE_COLUMNS);
export const { recordings, recordingBytes } = declareTables(recordingTables, SQLITE_COLUMNS);
