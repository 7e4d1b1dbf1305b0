import { findAccountNames, findKeyNames } from "../accounts/find-items.ts";
import type { Database } from "../db/database.ts";
import { type Ledger, LedgerError } from "../ledger/ledger.ts";
import type { UsageDimension, UsageRow } from "../ledger/usage-records.ts";
import { causesOf, codeOf } from "../refusals/explain.ts";
import { type RefusalDimension, type RefusalSum, sumRefusals } from "../refusals/reads.ts";
import { addSums, NO_SUMS, type Sums, subtractSums, sumsOf } from "./sums.ts";
import { bucketMsOf, bucketsOf, DIMENSIONS, type Group, previousView, type UsageView } from "./view.ts";

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

/** The group of all groups but the dearest, where a view has too many to show each over time. */
export const OTHER = "(other)";
/** The groups that are shown over time where a view has too many. */
const GROUPS_OVER_TIME = 8;
/** Points beyond which groups are summed up in {@link OTHER}; the ledger returns at most 10,000 rows. */
const POINTS_MAX = 9_000;

interface Parts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "usage">;
}

export async function reportUsage(parts: Parts, view: UsageView, nowMs: number): Promise<UsageReport> {
  const [known, refused, previous] = await Promise.all([
    readPoints(parts, view),
    readRefused(parts, view),
    readTotal(parts, previousView(view, nowMs)),
  ]);
  const points = mergeRefused(view, known.points, refused);
  const groups = view.group === undefined ? [] : groupsOf(mergeRefused(view, known.groups, refused));
  const total = points.reduce((sum, point) => addSums(sum, point.sums), NO_SUMS);
  const names = await findGroupNames(parts, view, groups);
  return { points: fillGaps(points, view), groups, total, previous, names };
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
  return new Map([...ids.map((id) => [id, id] as const), ...others]);
}

/** Sums of the whole range, refused requests included. */
async function readTotal(parts: Parts, view: UsageView): Promise<Sums> {
  const [known, refused] = await Promise.all([readPoints(parts, view), readRefused(parts, view)]);
  return mergeRefused(view, known.points, refused).reduce((sum, { sums }) => addSums(sum, sums), NO_SUMS);
}

interface KnownPoints {
  readonly points: readonly UsagePoint[];
  /** Points that hold every group, with or without times. */
  readonly groups: readonly UsagePoint[];
}

/** Reads the points that have requests. A view with too many gets its dearest groups, and all others as one. */
async function readPoints(parts: Parts, view: UsageView): Promise<KnownPoints> {
  try {
    const points = await queryPoints(parts, view);
    return { points, groups: points };
  } catch (fault) {
    const isTooLarge = fault instanceof LedgerError && fault.code === "invalid_query";
    if (!isTooLarge || view.by === undefined || view.group === undefined) throw fault;
    return readDearest(parts, view, view.group);
  }
}

async function readDearest(parts: Parts, view: UsageView, group: Group): Promise<KnownPoints> {
  const groups = await queryPoints(parts, { ...view, by: undefined });
  const dearest = groups
    .flatMap(({ group: name, sums }) => (typeof name === "string" ? [{ name, sums }] : []))
    .toSorted((one, other) => compareNanos(other.sums.cost, one.sums.cost))
    .slice(0, GROUPS_OVER_TIME);
  const rest = new Map<number | undefined, Sums>();
  for (const { timeMs, sums } of await queryPoints(parts, { ...view, group: undefined }))
    rest.set(timeMs, sums);
  const points: UsagePoint[] = [];
  for (const { name } of dearest) {
    for (const { timeMs, sums } of await queryPoints(parts, only(view, group, name))) {
      points.push({ timeMs, group: name, sums });
      rest.set(timeMs, subtractSums(rest.get(timeMs) ?? NO_SUMS, sums));
    }
  }
  const others = [...rest].map(([timeMs, sums]) => ({ timeMs, group: OTHER, sums }));
  return { points: [...points, ...others], groups };
}

/** Narrows a view to one of its groups. */
function only(view: UsageView, group: Group, name: string): UsageView {
  if (group === "account") return { ...view, accountId: name, group: undefined, offsetHours: 0 };
  const member = group === "key" ? "keyId" : group;
  return { ...view, filter: { ...view.filter, [member]: name }, group: undefined };
}

async function queryPoints({ ledger }: Parts, view: UsageView): Promise<readonly UsagePoint[]> {
  const { accountId: walletId, range, by, group, filter, offsetHours } = view;
  const groupBy: readonly UsageDimension[] = [...(by ? [by] : []), ...(group ? [DIMENSIONS[group]] : [])];
  const query = { walletId, ...range, ...filter, groupBy, offsetHours };
  // The outcome of each row is known when it is a condition or a dimension.
  const countsOk = group !== "outcome" && filter.outcome === undefined;
  const [all, ok] = await Promise.all([
    ledger.usage(query),
    countsOk ? ledger.usage({ ...query, outcome: "ok" }) : undefined,
  ]);
  const placed = (row: UsageRow) => ({ timeMs: timeOf(row, view), group: groupOf(row, view) });
  const okByPlace = new Map(ok?.rows.map((row) => [placeOf(placed(row)), row.requests]));
  return all.rows.map((row) => {
    const place = placed(row);
    const isOk = (filter.outcome ?? row.group.outcome) === "ok";
    const okCount = countsOk ? (okByPlace.get(placeOf(place)) ?? 0) : isOk ? row.requests : 0;
    return { ...place, sums: sumsOf(row, okCount) };
  });
}

function timeOf({ group }: UsageRow, { by }: UsageView): number | undefined {
  const time = by && group[by];
  return typeof time === "number" ? time : undefined;
}

function groupOf({ group: values }: UsageRow, { group }: UsageView): string | null | undefined {
  if (group === undefined) return undefined;
  const value = values[DIMENSIONS[group]];
  return value === undefined || value === null ? null : String(value);
}

const REFUSAL_DIMENSIONS: Readonly<Record<Group, RefusalDimension | undefined>> = {
  account: "account",
  key: "key",
  model: "model",
  upstream: undefined,
  outcome: "cause",
};

/** Counts refused requests of a view, which have reached no upstream. */
async function readRefused({ database }: Parts, view: UsageView): Promise<readonly RefusalSum[]> {
  const { accountId, range, by, group, offsetHours } = view;
  const { keyId, model, upstream, outcome } = view.filter;
  const causes = outcome === undefined ? undefined : causesOf(outcome);
  if (upstream !== undefined || causes?.length === 0) return [];
  const grouping = {
    bucketMs: by && bucketMsOf(by),
    offsetMs: offsetHours * bucketMsOf("hour"),
    dimension: group && REFUSAL_DIMENSIONS[group],
  };
  const sums = await sumRefusals(database, { accountId, ...range, keyId, model, causes }, grouping);
  return group === "outcome" ? sums.map((sum) => ({ ...sum, group: codeOf(sum.group ?? "") })) : sums;
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
    return points.toSorted((one, other) => (one.timeMs ?? 0) - (other.timeMs ?? 0));
  }
  const byPlace = new Map(points.map((point) => [placeOf(point), point]));
  return times.flatMap((timeMs) =>
    names.map((group) => byPlace.get(placeOf({ timeMs, group })) ?? { timeMs, group, sums: NO_SUMS }),
  );
}

function placeOf({ timeMs, group }: Pick<UsagePoint, "timeMs" | "group">): string {
  return JSON.stringify([timeMs ?? null, group === undefined, group ?? null]);
}

function compareNanos(one: bigint, other: bigint): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
