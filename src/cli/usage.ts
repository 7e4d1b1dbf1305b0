import { DAY_MS, printTime } from "../domain/id-time.ts";
import { printUsd } from "../domain/money.ts";
import { OTHER, reportUsage, type UsageReport } from "../usage/report.ts";
import { printMargin, printSums, type Sums } from "../usage/sums.ts";
import type { Group, UsageView } from "../usage/view.ts";
import { CommandError, type CommandResult } from "./command.ts";
import { findAccountKey, findScopes, type ScopeOptions } from "./filters.ts";
import { printTable } from "./printing.ts";
import { requireAccount, type Storage } from "./storage.ts";

/** What usage is grouped by: a unit of time, a dimension, or the tags of one key. */
export type UsageBy =
  | { readonly by: "hour" | "day" }
  | { readonly by: Exclude<Group, "account">; readonly tagKey?: string | undefined };

export interface UsageOptions extends ScopeOptions {
  readonly account: string;
  /** Unix milliseconds. Default: 30 days before `to`. */
  readonly from?: number;
  /** Unix milliseconds, exclusive. Default: now. */
  readonly to?: number;
  /** Default: day. */
  readonly by?: UsageBy;
  /** Id, hint or secret of a key. */
  readonly key?: string;
  readonly model?: string;
}

const DAYS_DEFAULT = 30;

/** Shows requests, tokens and cost of an account, by one dimension and in total. */
export async function runUsage(
  storage: Storage,
  options: UsageOptions,
  now: () => number = Date.now,
): Promise<CommandResult> {
  const account = await requireAccount(storage.database, options.account);
  const { by: wanted = { by: "day" }, to: toMs = now() } = options;
  const { from: fromMs = toMs - DAYS_DEFAULT * DAY_MS } = options;
  if (fromMs >= toMs) throw new CommandError("Expected --from to be before --to.", 2);
  const keyId = await findAccountKey(storage, account.id, options.key);
  const scopes = await findScopes(storage, account, options);
  const view: UsageView = {
    accountId: account.id,
    range: { fromMs, toMs },
    ...("tagKey" in wanted ? { tagKey: wanted.tagKey } : { tagKey: undefined }),
    ...(isTime(wanted) ? { by: wanted.by, group: undefined } : { by: undefined, group: wanted.by }),
    filter: { keyId, model: options.model, scopes },
    offsetHours: 0,
  };
  const report = await reportUsage(storage, view, now(), { fillsGaps: false });
  const printed = rowsOf(report, view).map(({ name, sums }) => ({ ...name, ...printTotal(sums) }));
  const total = printTotal(report.total);
  const range = { from: printTime(fromMs), to: printTime(toMs) };
  return {
    json: { account_id: account.id, ...range, by: wanted.by, rows: printed, total },
    text: printUsage(wanted.by, printed, total),
  };
}

function isTime(wanted: UsageBy): wanted is Extract<UsageBy, { readonly by: "hour" | "day" }> {
  return wanted.by === "hour" || wanted.by === "day";
}

/** The rows of a report that have requests: by time, or the dearest group first. */
function rowsOf({ points, groups, names }: UsageReport, { group }: UsageView) {
  const rows =
    group === undefined
      ? points.map(({ timeMs, sums }) => ({
          name: { group: printTime(timeMs), group_name: null },
          sums,
        }))
      : groups.map((each) => ({ name: nameGroup(each.group, names, group), sums: each.sums }));
  return rows.filter(({ sums }) => sums.requests > 0);
}

function nameGroup(value: string | null, names: ReadonlyMap<string, string>, group: Group) {
  if (value === OTHER) return { group: null, group_name: "others" };
  const isNamed = group === "key" || group === "project" || group === "member" || group === "parent_key";
  return { group: value, group_name: value !== null && isNamed ? (names.get(value) ?? null) : null };
}

/** Prints sums with their margin, without refused requests. */
function printTotal(sums: Sums) {
  const { requests, errors, cost_usd, refused: _, ...tokens } = printSums(sums);
  return { requests, errors, cost_usd, ...printMargin(sums), ...tokens };
}

type PrintedSums = ReturnType<typeof printTotal>;
type PrintedRow = PrintedSums & ReturnType<typeof nameGroup>;

function printUsage(by: string, rows: readonly PrintedRow[], total: PrintedSums): string {
  const columns = (sums: PrintedSums) => [
    `${sums.requests}`,
    `${sums.errors}`,
    `${sums.input_tokens + sums.cached_input_tokens + sums.cache_write_tokens}`,
    `${sums.output_tokens}`,
    sums.cost_usd,
    sums.upstream_cost_usd,
    sums.margin_usd,
  ];
  const none = by === "model" ? "unknown" : `no ${by.replaceAll("_", " ")}`;
  const lines = rows.map((row) => [row.group_name ?? row.group ?? none, ...columns(row)]);
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
