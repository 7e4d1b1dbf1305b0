import { listKeys } from "../accounts/keys.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import type { UsageDimension, UsageRow } from "../ledger/usage-records.ts";
import { printTime } from "../time.ts";
import { CommandError, type CommandResult } from "./command.ts";
import { printTable } from "./printing.ts";
import { requireAccount, type Storage } from "./storage.ts";

export interface UsageOptions {
  readonly account: string;
  /** Unix milliseconds. Default: 30 days before `to`. */
  readonly from?: number;
  /** Unix milliseconds, exclusive. Default: now. */
  readonly to?: number;
  /** Default: day. */
  readonly by?: Extract<UsageDimension, "hour" | "day" | "model" | "key" | "upstream" | "outcome">;
}

const DAY_MS = 86_400_000;
const DAYS_DEFAULT = 30;

/** Shows requests, tokens and cost of an account, by one dimension and in total. */
export async function runUsage(
  { database, ledger }: Storage,
  options: UsageOptions,
  now: () => number = Date.now,
): Promise<CommandResult> {
  const account = await requireAccount(database, options.account);
  const { by = "day", to: toMs = now(), from: fromMs = toMs - DAYS_DEFAULT * DAY_MS } = options;
  if (fromMs >= toMs) throw new CommandError("Expected --from to be before --to.", 2);
  // The outcome separates errors from complete answers.
  const groupBy = by === "outcome" ? [by] : [by, "outcome" as const];
  const { rows } = await ledger.usage({ walletId: account.id, fromMs, toMs, groupBy });
  const names = by === "key" ? await findKeyNames(database, account.id) : new Map<string, string>();
  const groups = Map.groupBy(rows, ({ group }) => group[by] ?? null);
  const printed = [...groups].map(([group, ofGroup]) => ({
    ...nameGroup(group, names),
    ...printSums(sumOf(ofGroup)),
  }));
  const total = printSums(sumOf(rows));
  return {
    json: {
      account_id: account.id,
      from: printTime(fromMs),
      to: printTime(toMs),
      by,
      rows: printed,
      total,
    },
    text: printUsage(by, printed, total),
  };
}

async function findKeyNames(
  database: Storage["database"],
  accountId: string,
): Promise<ReadonlyMap<string, string>> {
  const keys = await listKeys(database, accountId);
  return new Map(keys.map(({ id, name }) => [id, name]));
}

function nameGroup(value: string | number | null, names: ReadonlyMap<string, string>) {
  if (typeof value === "number") return { group: printTime(value), group_name: null };
  return { group: value, group_name: value === null ? null : (names.get(value) ?? null) };
}

interface Sums {
  readonly requests: number;
  readonly errors: number;
  readonly cost: Nanos;
  readonly upstreamCost: Nanos;
  /** The part of `cost` whose upstream cost is known. */
  readonly costed: Nanos;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
}

/** Errors are requests that ended with another outcome than `ok`. The cost is what was charged, less refunds. */
function sumOf(rows: readonly UsageRow[]): Sums {
  const add = (value: (row: UsageRow) => number) => rows.reduce((sum, row) => sum + value(row), 0);
  return {
    requests: add(({ requests }) => requests),
    errors: add(({ group, requests, open }) => (group.outcome === "ok" ? 0 : requests - open)),
    cost: rows.reduce((sum, { captured, refunded }) => sum + captured - refunded, 0n),
    upstreamCost: rows.reduce((sum, { upstreamCost }) => sum + upstreamCost, 0n),
    costed: rows.reduce((sum, { costed }) => sum + costed, 0n),
    inputTokens: add(({ usage }) => usage.inputTokens),
    cachedInputTokens: add(({ usage }) => usage.cachedInputTokens),
    cacheWriteTokens: add(({ usage }) => usage.cacheWriteTokens + usage.cacheWrite1hTokens),
    outputTokens: add(({ usage }) => usage.outputTokens),
  };
}

function printSums(sums: Sums) {
  return {
    requests: sums.requests,
    errors: sums.errors,
    cost_usd: printUsd(sums.cost),
    upstream_cost_usd: printUsd(sums.upstreamCost),
    margin_usd: printUsd(sums.costed - sums.upstreamCost),
    unknown_cost_usd: printUsd(sums.cost - sums.costed),
    input_tokens: sums.inputTokens,
    cached_input_tokens: sums.cachedInputTokens,
    cache_write_tokens: sums.cacheWriteTokens,
    output_tokens: sums.outputTokens,
  };
}

type PrintedSums = ReturnType<typeof printSums>;
type PrintedRow = PrintedSums & ReturnType<typeof nameGroup>;

function printUsage(by: UsageDimension, rows: readonly PrintedRow[], total: PrintedSums): string {
  const columns = (sums: PrintedSums) => [
    `${sums.requests}`,
    `${sums.errors}`,
    `${sums.input_tokens + sums.cached_input_tokens + sums.cache_write_tokens}`,
    `${sums.output_tokens}`,
    sums.cost_usd,
    sums.upstream_cost_usd,
    sums.margin_usd,
  ];
  const lines = rows.map((row) => [row.group_name ?? row.group ?? "unknown", ...columns(row)]);
  const titles = [
    by.toUpperCase(),
    "REQUESTS",
    "ERRORS",
    "TOKENS IN",
    "TOKENS OUT",
    "COST USD",
    "UPSTREAM USD",
    "MARGIN USD",
  ];
  const table = printTable(titles, [...lines, ["total", ...columns(total)]]);
  if (total.unknown_cost_usd === printUsd(0n)) return table;
  return `${table}\nThe margin leaves out ${total.unknown_cost_usd} USD of cost whose upstream cost is unknown.`;
}
