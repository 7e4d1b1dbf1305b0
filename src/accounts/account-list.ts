import { and, asc, count, gt, inArray, isNull } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { DAY_MS, HOUR_MS } from "../domain/id-time.ts";
import type { Nanos } from "../domain/money.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Balances, pagesOf } from "../ledger/records.ts";
import type { UsageRow } from "../ledger/usage-records.ts";
import { type Account, readAccount } from "./accounts.ts";
import { containsText } from "./contains-text.ts";
import { inOrder, type ListOrder, pageRanked } from "./ranked-page.ts";

const USAGE_DAYS = 30;
const NO_BALANCES: Balances = { posted: 0n, held: 0n, available: 0n };

export interface ListParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "balances" | "usage" | "wallets">;
  readonly now: () => number;
}

/** An account as operators see it. */
export interface ListedAccount extends Account {
  readonly balances: Balances;
  readonly spent30d: Nanos;
  readonly requests30d: number;
  /** Keys that are not revoked. */
  readonly keys: number;
  /** To the hour within the last day, to the UTC day before; `undefined` for more than 30 days. */
  readonly lastRequestAtMs: number | undefined;
}

/** What accounts are ordered by: money and use of 30 days, or the name. */
export const ACCOUNT_ORDERS = ["name", "available", "spent", "requests"] as const;
type AccountOrder = (typeof ACCOUNT_ORDERS)[number];

export interface AccountPage {
  /** Part of a name or an e-mail in any case, or a whole id. */
  readonly text?: string | undefined;
  /** Default: by id, the oldest first. */
  readonly order?: ListOrder<AccountOrder> | undefined;
  /** Without a text or an order a token of the ledger's list of wallets, with one the id of the last account. */
  readonly token?: string | undefined;
  readonly size: number;
}

/**
 * Lists accounts by id, the oldest first, with their balances and their usage of 30 days. Without a text each
 * kind of figure costs one query per page, whatever the number of accounts.
 */
export async function listAccountsWithUsage(
  parts: ListParts,
  page: AccountPage,
): Promise<{ readonly items: readonly ListedAccount[]; readonly next: string | null }> {
  const { accounts, balances, next } = await find(parts, page);
  const ids = accounts.map(({ id }) => id);
  const [usage, keys] = await Promise.all([sumUsage(parts, ids), countKeys(parts.database, ids)]);
  const items = accounts.map((account) => {
    const { spent30d = 0n, requests30d = 0, lastRequestAtMs } = usage.get(account.id) ?? {};
    return {
      ...account,
      balances: balances.get(account.id) ?? NO_BALANCES,
      spent30d,
      requests30d,
      lastRequestAtMs,
      keys: keys.get(account.id) ?? 0,
    };
  });
  return { items, next };
}

function find(parts: ListParts, page: AccountPage): Promise<FoundAccounts> {
  if (page.order) return rank(parts, page, page.order);
  return page.text ? search(parts, page) : listAll(parts, page);
}

interface FoundAccounts {
  readonly accounts: readonly Account[];
  readonly balances: ReadonlyMap<string, Balances>;
  readonly next: string | null;
}

/** The list of wallets has the order and the balances; wallets without an account are left out. */
async function listAll(
  { database, ledger }: ListParts,
  { token, size }: AccountPage,
): Promise<FoundAccounts> {
  const { items, nextToken } = await ledger.wallets({ size, token });
  const balances = new Map(items.map(({ walletId, balances }) => [walletId, balances]));
  const { accounts } = database.tables;
  const rows = await database.db
    .select()
    .from(accounts)
    .where(inArray(accounts.id, [...balances.keys()]))
    .orderBy(asc(accounts.id));
  return { accounts: rows.map(readAccount), balances, next: nextToken ?? null };
}

/** The ledger reads no wallets of a list of ids: each match costs a read by its key, at most a page of them. */
async function search(
  { database, ledger }: ListParts,
  { text = "", token, size }: AccountPage,
): Promise<FoundAccounts> {
  const { accounts } = database.tables;
  const after = token === undefined ? undefined : gt(accounts.id, token);
  const isMatch = containsText([accounts.name, accounts.email, accounts.id], text);
  const rows = await database.db
    .select()
    .from(accounts)
    .where(and(isMatch, after))
    .orderBy(asc(accounts.id))
    .limit(size + 1);
  const found = rows.slice(0, size).map(readAccount);
  const balances = await Promise.all(found.map(async ({ id }) => [id, await ledger.balances(id)] as const));
  const next = rows.length > size ? (found.at(-1)?.id ?? null) : null;
  return { accounts: found, balances: new Map(balances), next };
}

/** Every account has its value read: those of 5,000 are some thousand rows, of one query each, or of five. */
async function rank(
  parts: ListParts,
  { text, token, size }: AccountPage,
  { by, isDescending }: ListOrder<AccountOrder>,
): Promise<FoundAccounts> {
  const { database, ledger } = parts;
  const { accounts } = database.tables;
  const named = await database.db
    .select({ id: accounts.id, name: accounts.name })
    .from(accounts)
    .where(containsText([accounts.name, accounts.email, accounts.id], text));
  const known = by === "available" ? await readAllBalances(ledger) : undefined;
  const used = by === "spent" || by === "requests" ? await readAllUsage(parts, by) : undefined;
  const figureOf = (id: string) => known?.get(id)?.available ?? used?.get(id) ?? 0n;
  const ranked = named.map(({ id, name }) => ({
    id,
    value: by === "name" ? name.toLowerCase() : figureOf(id),
  }));
  const { ids, next } = pageRanked(ranked, { isDescending, token, size });
  const rows = await database.db
    .select()
    .from(accounts)
    .where(inArray(accounts.id, [...ids]));
  const balances =
    known ?? new Map(await Promise.all(ids.map(async (id) => [id, await ledger.balances(id)] as const)));
  return { accounts: inOrder(ids, rows).map(readAccount), balances, next };
}

/** Of more than 10,000 accounts the ledger answers with those that have spent most. */
async function readAllUsage(
  { ledger, now }: ListParts,
  by: "spent" | "requests",
): Promise<ReadonlyMap<string, bigint>> {
  const query = { walletId: undefined, fromMs: thirtyDaysFrom(now()), groupBy: ["wallet"] } as const;
  const { rows } = await ledger.usage(query);
  return new Map(
    rows.map(({ group, captured, refunded, requests }) => [
      String(group.wallet),
      by === "spent" ? captured - refunded : BigInt(requests),
    ]),
  );
}

/** The most wallets of one read. */
const WALLETS_OF_READ = 1_000;

async function readAllBalances(ledger: Pick<Ledger, "wallets">): Promise<ReadonlyMap<string, Balances>> {
  const found = new Map<string, Balances>();
  for await (const wallets of pagesOf((token) => ledger.wallets({ size: WALLETS_OF_READ, token })))
    for (const { walletId, balances } of wallets) found.set(walletId, balances);
  return found;
}

interface UsageSum {
  spent30d: Nanos;
  requests30d: number;
  lastRequestAtMs: number | undefined;
}

/** Sums the usage of a page of accounts by one query for 30 days, and one for the hours of the last day. */
async function sumUsage(
  { ledger, now }: ListParts,
  walletIds: readonly string[],
): Promise<ReadonlyMap<string, UsageSum>> {
  const sums = new Map<string, UsageSum>();
  if (walletIds.length === 0) return sums;
  const add = ({ group, requests, captured, refunded }: UsageRow) => {
    const id = String(group.wallet);
    const sum = sums.get(id) ?? { spent30d: 0n, requests30d: 0, lastRequestAtMs: undefined };
    sum.spent30d += captured - refunded;
    sum.requests30d += requests;
    sum.lastRequestAtMs = later(sum.lastRequestAtMs, group.day);
    sums.set(id, sum);
  };
  const nowMs = now();
  const [days, hours] = await Promise.all([
    readUsage(ledger, { walletIds, fromMs: thirtyDaysFrom(nowMs), by: "day" }),
    readUsage(ledger, { walletIds, fromMs: nowMs - DAY_MS, by: "hour" }),
  ]);
  for (const row of days) add(row);
  for (const { group } of hours) {
    const sum = sums.get(String(group.wallet));
    if (sum) sum.lastRequestAtMs = later(sum.lastRequestAtMs, group.hour);
  }
  return sums;
}

/** The midnight of a viewer from which the pages of usage, which end with the running hour, count 30 days. */
export function thirtyDaysFrom(nowMs: number, offsetHours = 0): number {
  const shiftMs = offsetHours * HOUR_MS;
  const endMs = Math.ceil((nowMs + 1) / HOUR_MS) * HOUR_MS;
  return Math.ceil((endMs - USAGE_DAYS * DAY_MS + shiftMs) / DAY_MS) * DAY_MS - shiftMs;
}

/** At most 200 accounts of 31 days, or 25 hours: below the 10,000 rows that a ledger returns. */
async function readUsage(
  ledger: Pick<Ledger, "usage">,
  query: { readonly walletIds: readonly string[]; readonly fromMs: number; readonly by: "day" | "hour" },
): Promise<readonly UsageRow[]> {
  const { walletIds, fromMs, by } = query;
  return (await ledger.usage({ walletId: undefined, walletIds, fromMs, groupBy: ["wallet", by] })).rows;
}

function later(known: number | undefined, time: unknown): number | undefined {
  return typeof time === "number" ? Math.max(known ?? time, time) : known;
}

/** Counts the keys that are not revoked, without those that keys made. */
async function countKeys(
  { db, tables: { apiKeys } }: Database,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (accountIds.length === 0) return new Map();
  const isOfOne = inArray(apiKeys.accountId, [...accountIds]);
  const rows = await db
    .select({ accountId: apiKeys.accountId, count: count() })
    .from(apiKeys)
    .where(and(isOfOne, isNull(apiKeys.revokedAtMs), isNull(apiKeys.parentId)))
    .groupBy(apiKeys.accountId);
  return new Map(rows.map((row) => [row.accountId, Number(row.count)]));
}
