import { findKeyNames } from "../accounts/find-items.ts";
import { DAY_MS } from "../domain/id-time.ts";
import { printUsd } from "../domain/money.ts";
import type { UsageDimension, UsageRow } from "../ledger/usage-records.ts";
import { printTime } from "../time.ts";
import { addSums, NO_SUMS, printMargin, printSums, type Sums, sumsOf } from "../usage/sums.ts";
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
  const groups = Map.groupBy(rows, ({ group }) => group[by] ?? null);
  const keyIds = by === "key" ? [...groups.keys()].map(String) : [];
  const names = await findKeyNames(database, account.id, keyIds);
  const printed = [...groups].map(([group, ofGroup]) => ({
    ...nameGroup(group, names),
    ...printTotal(sumOf(ofGroup)),
  }));
  const total = printTotal(sumOf(rows));
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

function nameGroup(value: string | number | null, names: ReadonlyMap<string, string>) {
  if (typeof value === "number") return { group: printTime(value), group_name: null };
  return { group: value, group_name: value === null ? null : (names.get(value) ?? null) };
}

/** Errors are requests that ended with another outcome than `ok`. */
function sumOf(rows: readonly UsageRow[]): Sums {
  return rows
    .map((row) => sumsOf(row, row.group.outcome === "ok" ? row.requests : 0))
    .reduce(addSums, NO_SUMS);
}

/** Prints sums with their margin, without refused requests, which are not read. */
function printTotal(sums: Sums) {
  const { requests, errors, cost_usd, refused: _, ...tokens } = printSums(sums);
  return { requests, errors, cost_usd, ...printMargin(sums), ...tokens };
}

type PrintedSums = ReturnType<typeof printTotal>;
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
