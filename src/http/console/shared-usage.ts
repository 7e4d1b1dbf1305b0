import { eq } from "drizzle-orm";
import { type Static, t } from "elysia";
import { openLink, type SharedLink } from "../../accounts/shared-links.ts";
import { printUsd } from "../../domain/money.ts";
import { GatewayError } from "../../errors.ts";
import type { UsageRow } from "../../ledger/usage-records.ts";
import { printTime } from "../../time.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { time, usd } from "./shapes.ts";

const sums = {
  requests: t.Integer(),
  cost_usd: usd,
  input_tokens: t.Integer(),
  cached_input_tokens: t.Integer(),
  cache_write_tokens: t.Integer(),
  output_tokens: t.Integer(),
};

/** The last 30 days by UTC day. Names are null unless the link shows them. */
export const sharedUsage = t.Object({
  account_name: t.Nullable(t.String()),
  key_name: t.Nullable(t.String()),
  from: time,
  to: time,
  expires_at: time,
  usage: t.Object({
    rows: t.Array(t.Object({ time, ...sums })),
    total: t.Object(sums),
    models: t.Array(t.Object({ model: t.String(), ...sums })),
  }),
  spending_limit: t.Nullable(
    t.Object({
      amount_usd: usd,
      period: t.Union([t.Literal("total"), t.Literal("day"), t.Literal("week"), t.Literal("month")]),
      used_usd: usd,
      remaining_usd: usd,
      resets_at: t.Nullable(time),
    }),
  ),
});
type SharedUsage = Static<typeof sharedUsage>;

const DAY_MS = 86_400_000;
const DAYS = 30;
/** How long a view is answered again without a query: links may be on pages that many people open. */
const KEPT_MS = 15_000;
const KEPT_MAX = 200;

interface KeptView {
  readonly untilMs: number;
  readonly view: Promise<SharedUsage>;
}

/** Returns the view of a link's token. Throws `unknown_item` for an unknown, expired or revoked one alike. */
export function createSharedViews(parts: ConsoleParts) {
  const kept = new Map<string, KeptView>();
  return async (token: string): Promise<SharedUsage> => {
    const nowMs = parts.now();
    // Also for a kept view: a revoked link ends at once.
    const link = await openLink(parts.database, token, nowMs);
    if (!link) throw new GatewayError("unknown_item");
    const known = kept.get(link.id);
    if (known && nowMs < known.untilMs && known.untilMs <= nowMs + KEPT_MS) return known.view;
    const view = readView(parts, link, nowMs);
    kept.delete(link.id);
    kept.set(link.id, { untilMs: nowMs + KEPT_MS, view });
    view.catch(() => kept.delete(link.id));
    const [oldest] = kept.keys();
    if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
    return view;
  };
}

async function readView(
  { database, ledger }: ConsoleParts,
  link: SharedLink,
  nowMs: number,
): Promise<SharedUsage> {
  const fromMs = Math.floor(nowMs / DAY_MS - (DAYS - 1)) * DAY_MS;
  const { accountId: walletId, key } = link;
  const range = { walletId, keyId: key?.id, fromMs, toMs: nowMs + 1 };
  const [days, models, total, limits, name] = await Promise.all([
    ledger.usage({ ...range, groupBy: ["day"] }),
    ledger.usage({ ...range, groupBy: ["model"] }),
    ledger.usage({ ...range, groupBy: [] }),
    key ? ledger.spendLimits(walletId, key.id) : [],
    findName(database, walletId),
  ]);
  const [sum] = total.rows;
  return {
    account_name: link.showsNames ? name : null,
    key_name: (link.showsNames && key?.name) || null,
    from: printTime(fromMs),
    to: printTime(nowMs),
    expires_at: printTime(link.expiresAtMs),
    usage: {
      rows: days.rows.map((row) => ({ time: printTime(Number(row.group.day)), ...printSums(row) })),
      total: sum ? printSums(sum) : NO_SUMS,
      models: models.rows.map((row) => ({ model: String(row.group.model ?? ""), ...printSums(row) })),
    },
    spending_limit: printLimit(limits.find((limit) => limit.keyId === key?.id)),
  };
}

async function findName(
  { db, tables: { accounts } }: ConsoleParts["database"],
  accountId: string,
): Promise<string | null> {
  const [row] = await db.select({ name: accounts.name }).from(accounts).where(eq(accounts.id, accountId));
  return row?.name ?? null;
}

const NO_SUMS = {
  requests: 0,
  cost_usd: printUsd(0n),
  input_tokens: 0,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
};

function printSums({ requests, captured, refunded, usage }: UsageRow): typeof NO_SUMS {
  return {
    requests,
    cost_usd: printUsd(captured - refunded),
    input_tokens: usage.inputTokens,
    cached_input_tokens: usage.cachedInputTokens,
    cache_write_tokens: usage.cacheWriteTokens + usage.cacheWrite1hTokens,
    output_tokens: usage.outputTokens,
  };
}

type Limits = Awaited<ReturnType<ConsoleParts["ledger"]["spendLimits"]>>;

function printLimit(limit: Limits[number] | undefined): SharedUsage["spending_limit"] {
  if (!limit) return null;
  const { amount, period, used, held, resetsAtMs } = limit;
  const left = amount - used - held;
  return {
    amount_usd: printUsd(amount),
    period,
    used_usd: printUsd(used),
    remaining_usd: printUsd(left > 0n ? left : 0n),
    resets_at: printTime(resetsAtMs),
  };
}
