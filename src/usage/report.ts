import { findAccountNames, findKeyNames, findNames } from "../accounts/find-items.ts";
import type { Database } from "../db/database.ts";
import { type Ledger, LedgerError } from "../ledger/ledger.ts";
import type { UsageQuery } from "../ledger/records.ts";
import { OTHER_SCOPES, type UsageDimension, type UsageRow } from "../ledger/usage-records.ts";
import type { RefusalSum } from "../refusals/reads.ts";
import { readRefused } from "./refused.ts";
import { addSums, NO_SUMS, type Sums, subtractSums, sumsOf } from "./sums.ts";
import { bucketsOf, DIMENSIONS, type Group, previousView, type UsageView } from "./view.ts";

/** One time bucket of one group. */
interface UsagePoint {
  /** Unix milliseconds; `undefined` when times are not grouped. */
  readonly timeMs: number | undefined;
  /** `undefined` without groups, null for an unknown value. */
  readonly group: string | null | undefined;
  readonly sums: Sums;
}

/** The answer to a view. Points and groups of refused requests alone are in it too. */
export interface UsageReport {
  /** By time, then by group; buckets without requests have zeros. */
  readonly points: readonly UsagePoint[];
  /** The dearest first; empty without groups. */
  readonly groups: readonly { readonly group: string | null; readonly sums: Sums }[];
  readonly total: Sums;
  readonly previous: Sums;
  /** The names of the groups by their ids: those of keys and accounts; others are their own name. */
  readonly names: ReadonlyMap<string, string>;
}

/**
 * The group of all groups but the dearest, where a view has too many, and of the scopes that the ledger has summed up
 * together. No id has a line feed.
 */
export const OTHER = "\n";
/** The groups that are shown over time where a view has too many. */
const GROUPS_OVER_TIME = 8;
/** Points beyond which groups are summed up in {@link OTHER}; the ledger returns at most 10,000 rows. */
const POINTS_MAX = 9_000;
/** The most groups of a report, {@link OTHER} apart. */
export const GROUPS_MAX = 9_999;
/** Dimensions with as many values as clients send. */
const MANY: readonly (Group | undefined)[] = ["end_user", "run", "tag"];

interface Parts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "usage">;
}

export interface ReportOptions {
  /** The most groups, all others being one. Default: {@link GROUPS_MAX}. */
  readonly groupsMax?: number | undefined;
  /** Whether buckets without requests are points, for a range of whole buckets. Default: true. */
  readonly fillsGaps?: boolean | undefined;
}

export async function reportUsage(
  parts: Parts,
  view: UsageView,
  nowMs: number,
  { groupsMax = GROUPS_MAX, fillsGaps = true }: ReportOptions = {},
): Promise<UsageReport> {
  const [known, refused, previous] = await Promise.all([
    readPoints(parts, view, groupsMax),
    readRefused(parts.database, view),
    readTotal(parts, previousView(view, nowMs)),
  ]);
  const points = mergeRefused(view, known.points, refused);
  const groups = view.group === undefined ? [] : groupsOf(mergeRefused(view, known.groups, refused));
  const total = points.reduce((sum, point) => addSums(sum, point.sums), NO_SUMS);
  const names = await findGroupNames(parts, view, groups);
  return { points: fillsGaps ? fillGaps(points, view) : sortPoints(points), groups, total, previous, names };
}

async function findGroupNames(
  { database }: Parts,
  { accountId, group }: UsageView,
  groups: UsageReport["groups"],
): Promise<UsageReport["names"]> {
  const ids = groups.flatMap(({ group: id }) => (id === null ? [] : [id]));
  const others = [[OTHER, "Others"]] as const;
  if (group === "key") return new Map([...(await findKeyNames(database, accountId, ids)), ...others]);
  if (group === "account") return new Map([...(await findAccountNames(database, ids)), ...others]);
  if (accountId !== undefined && (group === "project" || group === "member" || group === "parent_key")) {
    const scopes = ids.map((id) => ({ kind: group, id }));
    return new Map([...(await findNames(database, accountId, scopes)), ...others]);
  }
  // The id of a run begins with that of its key.
  const nameOf = (id: string) => (group === "run" ? id.slice(id.indexOf(":") + 1) : id);
  return new Map([...ids.map((id) => [id, nameOf(id)] as const), ...others]);
}

/** Sums of the whole range, refused requests included. */
async function readTotal(parts: Parts, view: UsageView): Promise<Sums> {
  const [known, refused] = await Promise.all([readPoints(parts, view, 1), readRefused(parts.database, view)]);
  return mergeRefused(view, known.points, refused).reduce((sum, { sums }) => addSums(sum, sums), NO_SUMS);
}

interface KnownPoints {
  readonly points: readonly UsagePoint[];
  /** Points that hold every group, with or without times. */
  readonly groups: readonly UsagePoint[];
}

/** Reads the points that have requests. A view with too many gets its dearest groups, and all others as one. */
async function readPoints(parts: Parts, view: UsageView, groupsMax: number): Promise<KnownPoints> {
  const { by, group } = view;
  if (group === undefined) return allOf(await queryPoints(parts, view));
  if (by === undefined) return allOf(await readGroups(parts, view, groupsMax));
  if (!MANY.includes(group)) {
    const points = await queryPoints(parts, view).catch(whenTooMany);
    if (points) return allOf(points);
  }
  const groups = await readGroups(parts, { ...view, by: undefined }, groupsMax);
  const isShown = MANY.includes(group) && groups.length * bucketsOf(view).length <= POINTS_MAX;
  if (isShown && groups.length < groupsMax) return { points: await queryPoints(parts, view), groups };
  return { points: await readDearest(parts, view, groups), groups };
}

function allOf(points: readonly UsagePoint[]): KnownPoints {
  return { points, groups: points };
}

/** Throws any other fault than that of a query with too many rows. */
function whenTooMany(fault: unknown): undefined {
  if (!(fault instanceof LedgerError) || fault.code !== "invalid_query") throw fault;
}

/** Reads the dearest groups of the whole range, and all others as one. */
async function readGroups(parts: Parts, view: UsageView, groupsMax: number): Promise<readonly UsagePoint[]> {
  const all = await queryPoints(parts, view, { dearestMax: groupsMax });
  if (all.length < groupsMax) return all;
  const dearest = all.filter(({ group }) => group !== OTHER);
  const [total] = await queryPoints(parts, { ...view, group: undefined });
  const sums = dearest.reduce((rest, each) => subtractSums(rest, each.sums), total?.sums ?? NO_SUMS);
  return sums.requests > 0 ? [...dearest, { timeMs: undefined, group: OTHER, sums }] : dearest;
}

/** Reads the dearest of groups over time, and all others as one. */
async function readDearest(
  parts: Parts,
  view: UsageView,
  groups: readonly UsagePoint[],
): Promise<readonly UsagePoint[]> {
  const among = groups
    .flatMap(({ group: name, sums }) => (typeof name === "string" && name !== OTHER ? [{ name, sums }] : []))
    .toSorted((one, other) => compareNanos(other.sums.cost, one.sums.cost))
    .slice(0, GROUPS_OVER_TIME)
    .map(({ name }) => name);
  const rest = new Map<number | undefined, Sums>();
  for (const { timeMs, sums } of await queryPoints(parts, { ...view, group: undefined }))
    rest.set(timeMs, sums);
  const points = among.length > 0 ? await queryPoints(parts, view, { among }) : [];
  for (const { timeMs, sums } of points) {
    rest.set(timeMs, subtractSums(rest.get(timeMs) ?? NO_SUMS, sums));
  }
  return [...points, ...[...rest].map(([timeMs, sums]) => ({ timeMs, group: OTHER, sums }))];
}

async function queryPoints(
  { ledger }: Parts,
  view: UsageView,
  selection: Pick<UsageQuery, "dearestMax" | "among"> = {},
): Promise<readonly UsagePoint[]> {
  const { accountId: walletId, range, by, group, tagKey, filter, offsetHours } = view;
  const groupBy: readonly UsageDimension[] = [...(by ? [by] : []), ...(group ? [DIMENSIONS[group]] : [])];
  const query = { walletId, ...range, ...filter, groupBy, tagKey, offsetHours, ...selection };
  const { rows } = await ledger.usage(query);
  const placed = (row: UsageRow) => ({ timeMs: timeOf(row, view), group: groupOf(row, view) });
  if (rows.every(({ ok }) => ok !== undefined)) {
    return rows.map((row) => ({ ...placed(row), sums: sumsOf(row, row.ok ?? 0) }));
  }
  const isOk = filter.outcome === undefined || filter.outcome === "ok";
  const ok = isOk ? (await ledger.usage({ ...query, outcome: "ok" })).rows : [];
  const okByPlace = new Map(ok.map((row) => [placeOf(placed(row)), row.requests]));
  return rows.map((row) => {
    const place = placed(row);
    return { ...place, sums: sumsOf(row, okByPlace.get(placeOf(place)) ?? 0) };
  });
}

function timeOf({ group }: UsageRow, { by }: UsageView): number | undefined {
  const time = by && group[by];
  return typeof time === "number" ? time : undefined;
}

function groupOf({ group: values }: UsageRow, { group }: UsageView): string | null | undefined {
  if (group === undefined) return undefined;
  const value = values[DIMENSIONS[group]];
  if (value === OTHER_SCOPES) return OTHER;
  return value === undefined || value === null ? null : String(value);
}

function mergeRefused(
  { group: grouping }: UsageView,
  points: readonly UsagePoint[],
  refused: readonly RefusalSum[],
): readonly UsagePoint[] {
  const shown = new Set(points.map(({ group }) => group));
  const merged = new Map(points.map((point) => [placeOf(point), point]));
  for (const { timeMs, group: name = "", count } of refused) {
    const known = grouping === undefined ? undefined : name === "" ? null : name;
    const group = shown.has(OTHER) && !shown.has(known) ? OTHER : known;
    const place = placeOf({ timeMs, group });
    const { sums } = merged.get(place) ?? { sums: NO_SUMS };
    merged.set(place, { timeMs, group, sums: { ...sums, refused: sums.refused + count } });
  }
  return [...merged.values()];
}

/** The groups of points, the dearest first. */
function groupsOf(points: readonly UsagePoint[]): UsageReport["groups"] {
  const sums = new Map<string | null, Sums>();
  for (const { group = null, sums: more } of points)
    sums.set(group, addSums(sums.get(group) ?? NO_SUMS, more));
  return [...sums]
    .map(([group, each]) => ({ group, sums: each }))
    .toSorted(
      (one, other) => compareNanos(other.sums.cost, one.sums.cost) || other.sums.requests - one.sums.requests,
    );
}

/** Sorts points by time, then the dearest group first, and adds zeros for missing buckets. */
function fillGaps(points: readonly UsagePoint[], view: UsageView): readonly UsagePoint[] {
  const names = view.group === undefined ? [undefined] : groupsOf(points).map(({ group }) => group);
  const times = view.by === undefined ? [undefined] : bucketsOf(view);
  if (times.length * names.length > POINTS_MAX) {
    return sortPoints(points);
  }
  const byPlace = new Map(points.map((point) => [placeOf(point), point]));
  return times.flatMap((timeMs) =>
    names.map((group) => byPlace.get(placeOf({ timeMs, group })) ?? { timeMs, group, sums: NO_SUMS }),
  );
}

function sortPoints(points: readonly UsagePoint[]): readonly UsagePoint[] {
  return points.toSorted((one, other) => (one.timeMs ?? 0) - (other.timeMs ?? 0));
}

function placeOf({ timeMs, group }: Pick<UsagePoint, "timeMs" | "group">): string {
  return JSON.stringify([timeMs ?? null, group === undefined, group ?? null]);
}

function compareNanos(one: bigint, other: bigint): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
