import { type RangeSearch, resolveRange } from "./ranges.ts";
import { DAY_MS } from "./times.ts";

/** What usage may be divided by. Accounts are for operators, keys and what requests count for for members. */
export const GROUPS = {
  model: "model",
  key: "key",
  project: "project",
  member: "member",
  end_user: "end user",
  tag: "tag",
  run: "run",
  parent_key: "key above",
  upstream: "upstream",
  outcome: "outcome",
  account: "account",
} as const;
export type GroupName = keyof typeof GROUPS | "none";

/** The groups that are scopes of requests. */
const SCOPE_GROUPS = ["project", "member", "end_user", "tag", "run", "parent_key"] as const;
type ScopeGroup = (typeof SCOPE_GROUPS)[number];

export function isScopeGroup(group: string): group is ScopeGroup {
  return SCOPE_GROUPS.some((each) => each === group);
}

/** The name of the requests that have nothing to divide by; refused ones have no upstream, and rarely no model. */
export function nameOfNone(group: GroupName): string {
  if (group === "upstream") return "no upstream";
  return isScopeGroup(group) ? `no ${GROUPS[group]}` : "unknown";
}

/** The groups that a viewer may divide by. */
export function groupsFor({ isOperator }: Pick<Viewer, "isOperator">): readonly (keyof typeof GROUPS)[] {
  // Safe because the keys are those of the object.
  return (Object.keys(GROUPS) as (keyof typeof GROUPS)[]).filter((group) => isAllowed(group, isOperator));
}

function isAllowed(group: string, isOperator: boolean): boolean {
  return isOperator ? group !== "key" && !isScopeGroup(group) : group !== "account";
}

/** The filters that the URL holds. */
export const FILTERS = ["scope", "key", "model", "upstream", "outcome"] as const;

/** The page's state, as the URL holds it. */
export interface UsageSearch extends RangeSearch {
  readonly by?: string;
  readonly group?: string;
  /** The key of the tags that a view by tag is divided by. */
  readonly tag?: string;
  /** What requests count for: "project:ID", "end_user:ada"; several have line feeds between them. */
  readonly scope?: string;
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
  readonly tag_key?: string;
  readonly scope?: string;
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
  const group = readGroup(search, isOperator);
  return {
    from,
    to,
    by,
    group,
    offset_h: offsetHours,
    ...(group === "tag" && search.tag && { tag_key: search.tag }),
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

/** A view by tag needs the key of the tags. */
function readGroup({ group, tag }: UsageSearch, isOperator: boolean): GroupName {
  if (group === "none") return "none";
  const usual = isOperator ? "account" : "model";
  if (group === undefined || !Object.hasOwn(GROUPS, group)) return usual;
  const isRefused = !isAllowed(group, isOperator) || (group === "tag" && tag === undefined);
  // Safe because the text is a member's name.
  return isRefused ? usual : (group as GroupName);
}

// What requests count for, as the URL and the API hold it: "project:ID". No id has a line feed, which separates several.

/** Reads the scopes of a filter, each "kind:id". */
export function listScopes(text: string | undefined): readonly string[] {
  return text ? text.split("\n") : [];
}

/** Adds a scope to a filter, in place of one of the same kind; of tags, of the same key. */
export function addScope(text: string | undefined, scope: string): string {
  const kept = listScopes(text).filter((each) => nameOfScope(each) !== nameOfScope(scope));
  return [...kept, scope].join("\n");
}

/** Removes a scope from a filter; `undefined` when none is left. */
export function removeScope(text: string | undefined, scope: string): string | undefined {
  return (
    listScopes(text)
      .filter((each) => each !== scope)
      .join("\n") || undefined
  );
}

/** Splits "end_user:ada" into its kind and its id. */
export function splitScope(scope: string): readonly [kind: string, id: string] {
  const colon = scope.indexOf(":");
  return [scope.slice(0, colon), scope.slice(colon + 1)];
}

/** What a filter has once: a kind, or a tag's key. */
function nameOfScope(scope: string): string {
  const [kind, id] = splitScope(scope);
  return kind === "tag" ? `tag:${id.slice(0, id.indexOf("="))}` : kind;
}
