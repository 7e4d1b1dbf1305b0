// Every table, for drizzle-kit, which finds tables by the exports of a file.

import { declareTables } from "../sqlite/columns.ts";
import * as accountTables from "../tables/accounts.ts";
import * as consoleTables from "../tables/console.ts";
import * as ledgerTables from "../tables/ledger.ts";
import * as paymentTables from "../tables/payments.ts";
import * as peopleTables from "../tables/people.ts";
import * as planTables from "../tables/plans.ts";
import * as recordingTables from "../tables/recordings.ts";
import * as signInTables from "../tables/sign-in-ways.ts";
import * as usageTables from "../tables/usage.ts";
import { POSTGRES_COLUMNS } from "./columns.ts";

export const { accounts, apiKeys, tagValues, runs, gateways, instance, projects } = declareTables(
  accountTables,
  POSTGRES_COLUMNS,
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
} = declareTables(peopleTables, POSTGRES_COLUMNS);
export const { identities, passkeys, secondFactors } = declareTables(signInTables, POSTGRES_COLUMNS);
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
} = declareTables(consoleTables, POSTGRES_COLUMNS);
export const { planGrants, planInvoices, planOrders, subscriptions } = declareTables(
  planTables,
  POSTGRES_COLUMNS,
);
export const { wallets, transfers, credits, holds, spendLimits, limitCounters, forgottenNames } =
  declareTables(ledgerTables, POSTGRES_COLUMNS);
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
} = declareTables(usageTables, POSTGRES_COLUMNS);
export const {
  redeemCodes,
  checkouts,
  autoTopUps,
  autoPayments,
  cardSetups,
  reversals,
  signedDays,
  signedPayments,
} = declareTables(paymentTables, POSTGRES_COLUMNS);
export const { recordings, recordingBytes } = declareTables(recordingTables, POSTGRES_COLUMNS);
