// Reads the accounts at risk: those with a subscription or an automatic top-up, and every wallet below zero.
import { inArray } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { DAY_MS, HOUR_MS, printTime } from "../domain/id-time.ts";
import { printUsd } from "../domain/money.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { PAGE_SIZE_MAX, readToEnd, type WalletSummary } from "../ledger/records.ts";
import { isLive, readLived } from "../plans/reads.ts";
import { nextAtMsOf, type Subscription } from "../plans/subscription.ts";
import { RATE_DAYS, RISKS, type Risk, type RiskKind, risksOf } from "./risks.ts";
import { NO_SPENDING, readSpending } from "./spending.ts";

export interface RiskParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "wallets" | "usage">;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** An account with its reasons. */
interface AccountAtRisk {
  readonly accountId: string;
  readonly name: string;
  readonly plan: Subscription["plan"] | undefined;
  /** When its next period begins, or it ends. */
  readonly nextAtMs: number | undefined;
  readonly risks: readonly Risk[];
}

export interface AccountsAtRisk {
  readonly atMs: number;
  /** How many accounts have each reason. */
  readonly counts: ReadonlyMap<RiskKind, number>;
  /** The most urgent first, as many as were asked for. */
  readonly accounts: readonly AccountAtRisk[];
  /** How many there are. */
  readonly total: number;
}

interface RiskRequest {
  /** Default: every reason. */
  readonly kind?: RiskKind | undefined;
  readonly size: number;
}

/** Reads every wallet by pages, the spending of subscribers from sums of usage, and no receipt. */
export async function findAtRisk(parts: RiskParts): Promise<AtRisk> {
  const nowMs = parts.now();
  const [wallets, subscriptions, autoTopUps] = await Promise.all([
    readWallets(parts.ledger, nowMs + RATE_DAYS * DAY_MS),
    readLived(parts.database, nowMs),
    readAutoTopUps(parts.database),
  ]);
  const live = new Map(subscriptions.filter(isLive).map((each) => [each.accountId, each]));
  // Whole hours, which are summed up in advance.
  const fromMs = nowMs - (nowMs % HOUR_MS) - RATE_DAYS * DAY_MS;
  const customers = wallets.filter(({ walletId }) => live.has(walletId) || autoTopUps.has(walletId));
  const spending = await readSpending(
    parts.ledger,
    customers.map(({ walletId }) => walletId),
    { fromMs },
  );
  const found = wallets.flatMap((wallet) => {
    const { walletId } = wallet;
    const subscription = live.get(walletId);
    const autoTopUp = autoTopUps.get(walletId);
    if (!subscription && !autoTopUp && wallet.balances.posted >= 0n) return [];
    const { charged: spentWeek } = spending.get(walletId) ?? NO_SPENDING;
    const risks = risksOf({ wallet, subscription, autoTopUp, spentWeek }, nowMs);
    return risks.length === 0 ? [] : [{ walletId, subscription, risks }];
  });
  return { atMs: nowMs, found: found.toSorted((one, other) => urgencyOf(one) - urgencyOf(other)) };
}

/** Chooses the accounts of a reason, the most urgent first, and names them. */
export async function chooseAtRisk(
  database: Database,
  { atMs, found }: AtRisk,
  { kind, size }: RiskRequest,
): Promise<AccountsAtRisk> {
  const chosen = kind ? found.filter(({ risks }) => risks.some((risk) => risk.kind === kind)) : found;
  const shown = chosen.slice(0, size);
  const names = await readNames(
    database,
    shown.map(({ walletId }) => walletId),
  );
  const accounts = shown.map(({ walletId, subscription, risks }) => ({
    accountId: walletId,
    name: names.get(walletId) ?? walletId,
    plan: subscription?.plan,
    nextAtMs: subscription && nextAtMsOf(subscription),
    risks,
  }));
  return { atMs, counts: countRisks(found), accounts, total: chosen.length };
}

interface Found {
  readonly walletId: string;
  readonly subscription: Subscription | undefined;
  readonly risks: readonly Risk[];
}

/** Every account at risk of a moment, the most urgent first. */
export interface AtRisk {
  readonly atMs: number;
  readonly found: readonly Found[];
}

function urgencyOf({ risks: [first] }: Found): number {
  return first ? RISKS.indexOf(first.kind) : RISKS.length;
}

function countRisks(found: readonly Found[]): ReadonlyMap<RiskKind, number> {
  const countOf = (kind: RiskKind) =>
    found.filter(({ risks }) => risks.some((risk) => risk.kind === kind)).length;
  return new Map(RISKS.map((kind) => [kind, countOf(kind)]));
}

function readWallets(ledger: RiskParts["ledger"], endsBeforeMs: number): Promise<readonly WalletSummary[]> {
  return readToEnd((token) => ledger.wallets({ size: PAGE_SIZE_MAX, token }, { endsBeforeMs }));
}

async function readAutoTopUps({ db, tables: { autoTopUps } }: Database) {
  const { accountId, state, failures } = autoTopUps;
  const rows = await db.select({ accountId, state, failures }).from(autoTopUps);
  return new Map(rows.map((row) => [row.accountId, row]));
}

async function readNames({ db, tables: { accounts } }: Database, ids: readonly string[]) {
  const rows = await db
    .select({ id: accounts.id, name: accounts.name })
    .from(accounts)
    .where(inArray(accounts.id, [...ids]));
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Converts accounts at risk to JSON. */
export function printAtRisk({ atMs, counts, accounts, total }: AccountsAtRisk) {
  return {
    at: printTime(atMs),
    total,
    counts: [...counts].map(([kind, count]) => ({ kind, count })),
    items: accounts.map(({ accountId, name, plan, nextAtMs, risks }) => ({
      account_id: accountId,
      account_name: name,
      plan: plan
        ? { id: plan.id, name: plan.name, price_usd: plan.price === undefined ? null : printUsd(plan.price) }
        : null,
      next_at: printTime(nextAtMs ?? null),
      path: `/console/accounts/${encodeURIComponent(accountId)}/wallet`,
      risks: risks.map(({ kind, text }) => ({ kind, text })),
    })),
  };
}
