import { thirtyDaysFrom } from "../accounts/account-list.ts";
import type { ApiKey } from "../accounts/keys/key.ts";
import { chunksOf } from "../domain/chunks.ts";
import { DAY_MS } from "../domain/id-time.ts";
import type { Nanos } from "../domain/money.ts";
import { type Ledger, LedgerError } from "../ledger/ledger.ts";
import { USAGE_WALLETS_MAX, type UsageQuery } from "../ledger/records.ts";
import type { UsageRow } from "../ledger/usage-records.ts";

/** What a key has spent in the last 30 days, and when it was last used. */
export interface KeyActivity {
  readonly spent: Nanos;
  /** Unix milliseconds of the latest request that was admitted; `undefined` for none. */
  readonly lastUsedAtMs: number | undefined;
}

export const NO_ACTIVITY: KeyActivity = Object.freeze({ spent: 0n, lastUsedAtMs: undefined });

const SPENT_DAYS = 30;
/** Keys whose latest request is read at a time. */
const READS_MAX = 16;

interface Parts {
  readonly ledger: Pick<Ledger, "usage" | "receipts">;
  readonly now: () => number;
}

interface KeyDays {
  spent: Nanos;
  lastDayMs: number;
}

/**
 * Reads the activity of keys of one account, by key. Keys without a request have no entry. The 30 days begin at the
 * midnight of a viewer whose clock is `offsetHours` ahead of UTC.
 */
export async function readActivity(
  parts: Parts,
  accountId: string,
  keys: readonly ApiKey[],
  offsetHours = 0,
): Promise<ReadonlyMap<string, KeyActivity>> {
  const [rows, spentOf] = await Promise.all([
    readDays(parts, accountId, keys),
    readSpent(parts, { accountId, keys, offsetHours }),
  ]);
  const days = sumUp(rows, parts.now());
  const activities = new Map<string, KeyActivity>();
  const used = keys
    .flatMap(({ id }) => ({ id, days: days.get(id) }))
    .filter(({ days }) => days !== undefined);
  for (const some of chunksOf(used, READS_MAX)) {
    const reads = some.map(async ({ id, days }) => {
      if (!days) return;
      const lastUsedAtMs = await findLatest(parts, { accountId, keyId: id, dayMs: days.lastDayMs });
      activities.set(id, { spent: spentOf ? (spentOf.get(id) ?? 0n) : days.spent, lastUsedAtMs });
    });
    await Promise.all(reads);
  }
  return activities;
}

interface SpentQuery {
  readonly accountId: string;
  readonly keys: readonly ApiKey[];
  readonly offsetHours: number;
}

/** What keys have spent since a midnight that is not UTC's; `undefined` at UTC, whose days are read anyway. */
async function readSpent(
  { ledger, now }: Parts,
  { accountId, keys, offsetHours }: SpentQuery,
): Promise<ReadonlyMap<string, Nanos> | undefined> {
  if (offsetHours === 0) return undefined;
  const keyId = keys.length === 1 ? keys[0]?.id : undefined;
  return sumSpentByKey(ledger, { walletId: accountId, keyId, fromMs: thirtyDaysFrom(now(), offsetHours) });
}

/** Sums what keys of an account have spent since a time, in nano-USD by key. */
export async function sumSpentByKey(
  ledger: Pick<Ledger, "usage">,
  range: Pick<UsageQuery, "walletId" | "keyId" | "fromMs">,
): Promise<ReadonlyMap<string, Nanos>> {
  const { rows } = await ledger.usage({ ...range, groupBy: ["key"], isMoneyOnly: true });
  return new Map(rows.map(({ group, captured, refunded }) => [String(group.key), captured - refunded]));
}

/** The rows of one query: a cut leaves those out that cost least. */
const ROWS_MAX = 10_000;

/**
 * Reads when keys of an account were last used in 30 days, in Unix milliseconds by key: to the hour within the last day,
 * to the UTC day before.
 */
export async function readLastUse(
  { ledger, now }: { readonly ledger: Pick<Ledger, "usage">; readonly now: () => number },
  walletId: string,
): Promise<ReadonlyMap<string, bigint>> {
  const nowMs = now();
  const read = (by: "day" | "hour", fromMs: number) =>
    ledger.usage({ walletId, fromMs, groupBy: ["key", by], dearestMax: ROWS_MAX, isMoneyOnly: true });
  const reports = await Promise.all([read("day", thirtyDaysFrom(nowMs)), read("hour", nowMs - DAY_MS)]);
  const latest = new Map<string, bigint>();
  for (const { group } of reports.flatMap(({ rows }) => rows)) {
    const atMs = BigInt(group.hour ?? group.day ?? 0);
    if (atMs > (latest.get(String(group.key)) ?? 0n)) latest.set(String(group.key), atMs);
  }
  return latest;
}

/** Usage by key and day: of all time, or of 30 days where that is more than one query may return. */
async function readDays(
  { ledger, now }: Parts,
  accountId: string,
  keys: readonly ApiKey[],
): Promise<readonly UsageRow[]> {
  const [only, ...others] = keys;
  if (!only) return [];
  const keyId = others.length === 0 ? only.id : undefined;
  const among = keys.length <= USAGE_WALLETS_MAX ? keys.map(({ id }) => id) : undefined;
  const groupBy = ["day", "key"] as const;
  const query = { walletId: accountId, keyId, among, groupBy, isMoneyOnly: true };
  try {
    return (await ledger.usage(query)).rows;
  } catch (fault) {
    if (!(fault instanceof LedgerError) || fault.code !== "invalid_query") throw fault;
    return (await ledger.usage({ ...query, fromMs: now() - SPENT_DAYS * DAY_MS })).rows;
  }
}

function sumUp(rows: readonly UsageRow[], nowMs: number): ReadonlyMap<string, KeyDays> {
  const fromMs = thirtyDaysFrom(nowMs);
  const byKey = new Map<string, KeyDays>();
  for (const { group, captured, refunded } of rows) {
    const id = String(group.key);
    const dayMs = Number(group.day);
    const days = byKey.get(id) ?? { spent: 0n, lastDayMs: dayMs };
    days.lastDayMs = Math.max(days.lastDayMs, dayMs);
    if (dayMs >= fromMs) days.spent += captured - refunded;
    byKey.set(id, days);
  }
  return byKey;
}

/** Reads within one day, so that a key that is seldom used costs no search. */
async function findLatest(
  { ledger }: Parts,
  { accountId, keyId, dayMs }: { readonly accountId: string; readonly keyId: string; readonly dayMs: number },
): Promise<number> {
  const filter = { walletId: accountId, keyId, fromMs: dayMs, toMs: dayMs + DAY_MS };
  const { items } = await ledger.receipts(filter, { size: 1 });
  return items[0]?.createdAtMs ?? dayMs;
}
