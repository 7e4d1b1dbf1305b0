import { and, asc, count, inArray, isNull } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { DAY_MS, HOUR_MS } from "../domain/id-time.ts";
import type { Nanos } from "../domain/money.ts";
import type { Ledger } from "../ledger/ledger.ts";
import {
  type Balances,
  PAGE_SIZE_MAX,
  readToEnd,
  type UsageQuery,
  type WalletSummary,
} from "../ledger/records.ts";
import { type Account, readAccount } from "./accounts.ts";
import { containsText } from "./contains-text.ts";
import { orderRows } from "./ordered-rows.ts";
import { inOrder, type ListOrder, pageRanked, readListOrder } from "./ranked-page.ts";

const USAGE_DAYS = 30;
const NO_BALANCES: Balances = { posted: 0n, held: 0n, available: 0n };

export interface ListParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "usage" | "wallet" | "wallets">;
  readonly now: () => number;
}

/** An account as operators see it. */
export interface ListedAccount extends Account {
  readonly balances: Balances;
  readonly spent30d: Nanos;
  readonly requests30d: number;
  /** Keys that are not revoked. */
  readonly keys: number;
  /** `undefined` for none that is known. */
  readonly lastRequestAtMs: number | undefined;
}

/** Money, and use of 30 days, which no table of accounts has. */
const FIGURES = ["available", "spent", "requests"] as const;
type Figure = (typeof FIGURES)[number];

/** What accounts are ordered by. */
export const ACCOUNT_ORDERS = ["name", ...FIGURES] as const;

export interface AccountPage {
  /** Part of a name or an e-mail in any case, or a whole id. */
  readonly text?: string | undefined;
  /** Default: by id, the oldest first. */
  readonly sort?: string | undefined;
  /** The `next` of the page before. */
  readonly token?: string | undefined;
  readonly size: number;
}

/**
 * Lists accounts by id, the oldest first, with their balances and their usage of 30 days. Without a text or an order
 * each kind of figure costs one query per page, whatever the number of accounts.
 */
export async function listAccountsWithUsage(
  parts: ListParts,
  page: AccountPage,
): Promise<{ readonly items: readonly ListedAccount[]; readonly next: string | null }> {
  const { accounts, wallets, used, next } = await find(parts, page);
  const ids = accounts.map(({ id }) => id);
  const [usage, keys] = await Promise.all([
    used ?? sumUsage(parts, { walletIds: ids }),
    countKeys(parts.database, ids),
  ]);
  const items = accounts.map((account) => {
    const wallet = wallets.get(account.id);
    return {
      ...account,
      ...(usage.get(account.id) ?? NO_USAGE),
      balances: wallet?.balances ?? NO_BALANCES,
      lastRequestAtMs: wallet?.newestHoldAtMs,
      keys: keys.get(account.id) ?? 0,
    };
  });
  return { items, next };
}

function find(parts: ListParts, page: AccountPage): Promise<FoundAccounts> {
  const order = readListOrder(page.sort, ACCOUNT_ORDERS);
  if (order && isByFigure(order)) return rank(parts, page, order);
  return page.text || order ? search(parts, page) : listAll(parts, page);
}

function isByFigure(order: ListOrder<string>): order is ListOrder<Figure> {
  return order.by !== "name";
}

type Wallets = ReadonlyMap<string, WalletSummary>;

interface FoundAccounts {
  readonly accounts: readonly Account[];
  readonly wallets: Wallets;
  /** Where the order took the usage of all. */
  readonly used?: ReadonlyMap<string, UsageSum> | undefined;
  readonly next: string | null;
}

/** The list of wallets has the order and the balances; wallets without an account are left out. */
async function listAll(
  { database, ledger }: ListParts,
  { token, size }: AccountPage,
): Promise<FoundAccounts> {
  const { items, nextToken } = await ledger.wallets({ size, token });
  const wallets = byId(items);
  const { accounts } = database.tables;
  const rows = await database.db
    .select()
    .from(accounts)
    .where(inArray(accounts.id, [...wallets.keys()]))
    .orderBy(asc(accounts.id));
  return { accounts: rows.map(readAccount), wallets, next: nextToken ?? null };
}

/** The ledger reads no wallets of a list of ids: each match costs a read by its key, at most a page of them. */
async function search(
  { database, ledger }: ListParts,
  { text, sort, token, size }: AccountPage,
): Promise<FoundAccounts> {
  const { accounts } = database.tables;
  const orders = { name: { by: accounts.name, isText: true } } as const;
  const ordered = orderRows({ orders, id: accounts.id, sort, isOldestFirst: true, token });
  const rows = await database.db
    .select({ row: accounts, value: ordered.value })
    .from(accounts)
    .where(and(containsText([accounts.name, accounts.email, accounts.id], text), ordered.isAfter))
    .orderBy(ordered.orderBy)
    .limit(size + 1);
  const { items, next } = ordered.pageOf(rows, size);
  const wallets = await readWallets(
    ledger,
    items.map(({ id }) => id),
  );
  return { accounts: items.map(readAccount), wallets, next };
}

async function readWallets(ledger: Pick<Ledger, "wallet">, ids: readonly string[]): Promise<Wallets> {
  const wallets = await Promise.all(ids.map((id) => ledger.wallet(id)));
  return byId(wallets.filter((wallet) => wallet !== undefined));
}

function byId(wallets: readonly WalletSummary[]): Wallets {
  return new Map(wallets.map((wallet) => [wallet.walletId, wallet]));
}

/** Every account has its figure read: those of 5,000 are some thousand rows, of one query each, or of five. */
async function rank(
  parts: ListParts,
  { text, token, size }: AccountPage,
  order: ListOrder<Figure>,
): Promise<FoundAccounts> {
  const { database, ledger } = parts;
  const { by } = order;
  const { accounts } = database.tables;
  const found = await database.db
    .select({ id: accounts.id })
    .from(accounts)
    .where(containsText([accounts.name, accounts.email, accounts.id], text));
  const known = by === "available" ? await readAllWallets(ledger) : undefined;
  const used = by === "available" ? undefined : await sumUsage(parts, DEAREST);
  const figureOf = (id: string) => {
    if (known) return known.get(id)?.balances.available ?? 0n;
    const { spent30d, requests30d } = used?.get(id) ?? NO_USAGE;
    return by === "spent" ? spent30d : BigInt(requests30d);
  };
  const ranked = found.map(({ id }) => ({ id, value: figureOf(id) }));
  const { ids, next } = pageRanked(ranked, { order, token, size });
  const rows = await database.db
    .select()
    .from(accounts)
    .where(inArray(accounts.id, [...ids]));
  const wallets = known ?? (await readWallets(ledger, ids));
  return { accounts: inOrder(ids, rows).map(readAccount), wallets, used, next };
}

async function readAllWallets(ledger: Pick<Ledger, "wallets">): Promise<Wallets> {
  return byId(await readToEnd((token) => ledger.wallets({ size: PAGE_SIZE_MAX, token })));
}

type UsageSum = Pick<ListedAccount, "spent30d" | "requests30d">;
const NO_USAGE: UsageSum = { spent30d: 0n, requests30d: 0 };

/** Of more accounts, those that have spent most are known: others are ordered as if they had no usage. */
const DEAREST = { dearestMax: 10_000 } as const;

/** Sums the usage of 30 days of these wallets, at most a page of them, or of all. */
async function sumUsage(
  { ledger, now }: ListParts,
  which: Pick<UsageQuery, "walletIds" | "dearestMax">,
): Promise<ReadonlyMap<string, UsageSum>> {
  if (which.walletIds?.length === 0) return new Map();
  const range = { walletId: undefined, fromMs: thirtyDaysFrom(now()) };
  const { rows } = await ledger.usage({ ...range, ...which, groupBy: ["wallet"], isMoneyOnly: true });
  return new Map(
    rows.map(({ group, captured, refunded, requests }) => [
      String(group.wallet),
      { spent30d: captured - refunded, requests30d: requests },
    ]),
  );
}

/** The midnight of a viewer from which the pages of usage, which end with the running hour, count 30 days. */
export function thirtyDaysFrom(nowMs: number, offsetHours = 0): number {
  const shiftMs = offsetHours * HOUR_MS;
  const endMs = Math.ceil((nowMs + 1) / HOUR_MS) * HOUR_MS;
  return Math.ceil((endMs - USAGE_DAYS * DAY_MS + shiftMs) / DAY_MS) * DAY_MS - shiftMs;
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
