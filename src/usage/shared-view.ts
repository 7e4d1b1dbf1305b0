import { findAccountNames } from "../accounts/find-items.ts";
import { openLink, type SharedLink } from "../accounts/shared-links.ts";
import { limitAmong } from "../accounts/spending-limits.ts";
import type { Database } from "../db/database.ts";
import { DAY_MS } from "../domain/id-time.ts";
import { GatewayError } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { ReceiptFilter, SpendLimitUsage } from "../ledger/records.ts";
import { NO_SUMS, type Sums, sumsOf } from "./sums.ts";
import type { Range } from "./view.ts";

/** What a shared link shows: the usage of the last 30 UTC days. */
export interface SharedView {
  readonly link: SharedLink;
  /** `undefined` unless the link shows names. */
  readonly accountName: string | undefined;
  readonly keyName: string | undefined;
  readonly projectName: string | undefined;
  /** Up to now. */
  readonly range: Range;
  readonly days: readonly { readonly dayMs: number; readonly sums: Sums }[];
  readonly models: readonly { readonly model: string; readonly sums: Sums }[];
  readonly total: Sums;
  /** That of the key or project. */
  readonly spendingLimit: SpendLimitUsage | undefined;
}

interface Parts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "usage" | "spendLimits">;
  readonly now: () => number;
}

const DAYS = 30;
/** How long a view is answered again without a query: links may be on pages that many people open. */
const KEPT_MS = 15_000;
const KEPT_MAX = 200;
/** A key that no hold has: its limits are those of the scope that is asked for. */
const NO_KEY = "-";

interface KeptView {
  readonly untilMs: number;
  readonly view: Promise<SharedView>;
}

/** Returns the view of a link's token. Throws `unknown_item` for an unknown, expired or revoked one alike. */
export function createSharedViews(parts: Parts) {
  const kept = new Map<string, KeptView>();
  return async (token: string): Promise<SharedView> => {
    const nowMs = parts.now();
    // Also for a kept view: a revoked link ends at once.
    const link = await openLink(parts.database, token, nowMs);
    if (!link) throw new GatewayError("unknown_item");
    const known = kept.get(link.id);
    if (known && nowMs < known.untilMs && known.untilMs <= nowMs + KEPT_MS) return known.view;
    const view = readSharedView(parts, link, nowMs);
    kept.delete(link.id);
    kept.set(link.id, { untilMs: nowMs + KEPT_MS, view });
    view.catch(() => kept.delete(link.id));
    const [oldest] = kept.keys();
    if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
    return view;
  };
}

async function readSharedView(
  { database, ledger }: Parts,
  link: SharedLink,
  nowMs: number,
): Promise<SharedView> {
  const fromMs = Math.floor(nowMs / DAY_MS - (DAYS - 1)) * DAY_MS;
  const { accountId: walletId, key, project, showsNames } = link;
  const scope = project && ({ kind: "project", id: project.id } as const);
  const scopes = scope && [scope];
  const query: ReceiptFilter = { walletId, keyId: key?.id, scopes, fromMs, toMs: nowMs + 1 };
  const [days, models, total, limits, names] = await Promise.all([
    ledger.usage({ ...query, groupBy: ["day"] }),
    ledger.usage({ ...query, groupBy: ["model"] }),
    ledger.usage({ ...query, groupBy: [] }),
    key || scope ? ledger.spendLimits(walletId, key?.id ?? NO_KEY, scopes) : [],
    showsNames ? findAccountNames(database, [walletId]) : undefined,
  ]);
  const [sum] = total.rows;
  return {
    link,
    accountName: names?.get(walletId),
    keyName: showsNames ? key?.name : undefined,
    projectName: showsNames ? project?.name : undefined,
    range: { fromMs, toMs: nowMs },
    days: days.rows.map((row) => ({ dayMs: Number(row.group.day), sums: sumsOf(row, 0) })),
    models: models.rows.map((row) => ({ model: String(row.group.model ?? ""), sums: sumsOf(row, 0) })),
    total: sum ? sumsOf(sum, 0) : NO_SUMS,
    spendingLimit: project
      ? limitAmong(limits, { kind: "project", projectId: project.id })
      : limits.find((limit) => limit.limitId === key?.id),
  };
}
