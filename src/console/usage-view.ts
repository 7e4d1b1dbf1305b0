import { type RangeSearch, resolveRange } from "./ranges.ts";
import { DAY_MS } from "./times.ts";

/** What usage may be divided by. Accounts are for operators. */
export const GROUPS = {
  model: "model",
  key: "key",
  upstream: "upstream",
  outcome: "outcome",
  account: "account",
} as const;
export type GroupName = keyof typeof GROUPS | "none";

/** The filters that the URL holds. */
export const FILTERS = ["project", "key", "model", "upstream", "outcome"] as const;
export type FilterName = (typeof FILTERS)[number];

/** The page's state, as the URL holds it. */
export interface UsageSearch extends RangeSearch {
  readonly by?: string;
  readonly group?: string;
  readonly project?: string;
  readonly key?: string;
  readonly model?: string;
  readonly upstream?: string;
  readonly outcome?: string;
  /** "0" hides the comparison with the period before. */
  readonly compare?: string;
  readonly table?: string;
  readonly whatif?: string;
}

/** A usage view as the API takes it. */
export interface UsageQuery {
  readonly from: string;
  readonly to: string;
  readonly by: "hour" | "day";
  readonly group: GroupName;
  readonly offset_h: number;
  readonly project?: string;
  readonly key?: string;
  readonly model?: string;
  readonly upstream?: string;
  readonly outcome?: string;
}

/** More hours than those of 8 days are too thin to read. */
const HOURLY_MS_MAX = 8 * DAY_MS;
/** Shorter ranges have too few days to read. */
const DAILY_MS_MIN = 2 * DAY_MS;

interface Viewer {
  readonly isOperator: boolean;
  readonly nowMs?: number;
  /** Minutes that the viewer's clock is ahead of UTC. */
  readonly offsetMinutes?: number;
}

/**
 * Resolves the URL into a query. A unit that does not suit the range gives way to the one that does. Every page
 * that shows a sum of a range asks by this query, so that one range has one sum.
 */
export function resolveUsage(search: UsageSearch, { isOperator, ...viewer }: Viewer): UsageQuery {
  // All accounts are read by UTC days.
  const { from, to, offsetHours } = resolveRange(search, {
    ...viewer,
    ...(isOperator && { offsetMinutes: 0 }),
  });
  const by = chooseBy(search.by, Date.parse(to) - Date.parse(from));
  const filters = FILTERS.flatMap((filter) => (search[filter] ? [[filter, search[filter]]] : []));
  return {
    from,
    to,
    by,
    group: readGroup(search.group, isOperator),
    offset_h: offsetHours,
    ...Object.fromEntries(filters),
  };
}

/** The units that suit a range. */
export function unitsOf({ from, to }: Pick<UsageQuery, "from" | "to">): readonly ("hour" | "day")[] {
  const length = Date.parse(to) - Date.parse(from);
  return [
    ...(length <= HOURLY_MS_MAX ? (["hour"] as const) : []),
    ...(length > DAILY_MS_MIN ? (["day"] as const) : []),
  ];
}

/** Prints the query of the CSV of a view. */
export function printQuery(query: UsageQuery): string {
  return new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
}

function chooseBy(asked: string | undefined, lengthMs: number): "hour" | "day" {
  if (lengthMs <= DAILY_MS_MIN) return "hour";
  return asked === "hour" && lengthMs <= HOURLY_MS_MAX ? "hour" : "day";
}

function readGroup(text: string | undefined, isOperator: boolean): GroupName {
  if (text === "none") return "none";
  const usual = isOperator ? "account" : "model";
  if (text === undefined || !Object.hasOwn(GROUPS, text)) return usual;
  const isRefused = text === "account" ? !isOperator : text === "key" && isOperator;
  // Safe because the text is a member's name.
  return isRefused ? usual : (text as GroupName);
}
