import type { Account } from "../../../accounts/accounts.ts";
import { findKeyNames } from "../../../accounts/find-items.ts";
import { DAY_MS, HOUR_MS } from "../../../domain/id-time.ts";
import { printUsd } from "../../../domain/money.ts";
import { countUnread } from "../../../notices/notices.ts";
import { runwayOf } from "../../../payments/overview.ts";
import { findLive } from "../../../plans/reads.ts";
import { codeOf, explainRefusal } from "../../../refusals/explain.ts";
import { listRefusals, sumRefusals } from "../../../refusals/reads.ts";
import { MINUTE_MS } from "../../../refusals/refusal.ts";
import { readAccountDecline } from "../../../usage/forecast/next-decline.ts";
import type { PartsOf } from "../console-parts.ts";
import { offersUnder } from "../payments/plan-orders.ts";
import { type AccountNow, printAccount } from "./shapes.ts";

type Parts = PartsOf<"ledger" | "gateway" | "settings">;

/** How long a refused request concerns every page. */
const RECENT_MS = 10 * MINUTE_MS;
const RATE_DAYS = 7;

/** Reads what every page shows of an account: what refuses its requests, how long its money lasts, unread notices. */
export async function readAccountNow(parts: Parts, account: Account): Promise<AccountNow> {
  const { database, ledger } = parts;
  const [refusal, unread, refused, wallet, subscribes] = await Promise.all([
    readAccountDecline(ledger, parts.gateway(), account),
    countUnread(database, account.id),
    readRecentRefusals(parts, account.id),
    readRunway(parts, account.id),
    maySubscribe(parts, account.id),
  ]);
  return {
    ...printAccount(account),
    next_refusal: refusal ?? null,
    unread_notices: unread,
    recently_refused: refused ?? null,
    wallet: wallet ? { ...wallet, may_subscribe: subscribes } : null,
  };
}

/** Counts the requests that were refused in the last minutes, with the reason of the newest. */
async function readRecentRefusals({ database, now }: Parts, accountId: string) {
  const nowMs = now();
  const filter = { accountId, fromMs: nowMs - RECENT_MS, toMs: nowMs + MINUTE_MS };
  const grouping = { bucketMs: undefined, offsetMs: 0, dimension: undefined };
  const [[sum], [newest]] = await Promise.all([
    sumRefusals(database, filter, grouping),
    listRefusals(database, filter, { size: 1, after: undefined }),
  ]);
  if (!newest) return undefined;
  const names = await findKeyNames(database, accountId, [newest.keyId]);
  return {
    count: sum?.count ?? newest.count,
    request_id: newest.last.id,
    key_name: names.get(newest.keyId) ?? null,
    code: codeOf(newest.cause),
    text: explainRefusal(newest.cause, newest.last).text,
  };
}

async function maySubscribe({ database, settings }: Parts, accountId: string): Promise<boolean> {
  return offersUnder(settings).length > 0 && (await findLive(database, accountId)) === undefined;
}

/** The rate is that of whole hours, which are summed up in advance. */
async function readRunway({ ledger, now }: Parts, walletId: string) {
  const nowMs = now();
  const fromMs = nowMs - (nowMs % HOUR_MS) - RATE_DAYS * DAY_MS;
  const [wallet, { rows }] = await Promise.all([
    ledger.wallet(walletId),
    ledger.usage({ walletId, fromMs, groupBy: [] }),
  ]);
  if (!wallet) return undefined;
  const spent = rows.reduce((sum, { captured, refunded }) => sum + captured - refunded, 0n);
  const spanMs = Math.max(DAY_MS, nowMs - Math.max(fromMs, wallet.createdAtMs));
  const { available } = wallet.balances;
  return { available_usd: printUsd(available), runway_days: runwayOf({ available, spent, spanMs }) ?? null };
}
