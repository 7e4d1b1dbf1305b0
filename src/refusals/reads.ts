import { and, asc, desc, eq, gte, inArray, lt, max, type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { timeOf } from "../domain/id-time.ts";
import { MINUTE_MS, parseFacts, type RefusedRequest } from "./refusal.ts";

/** Selects refused requests of one account, or of all. Times are Unix milliseconds. */
export interface RefusalFilter {
  /** `undefined` selects every account. Only for operators. */
  readonly accountId: string | undefined;
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  readonly keyId?: string | undefined;
  readonly model?: string | undefined;
  /** `undefined` selects every cause. */
  readonly causes?: readonly string[] | undefined;
}

/** Refused requests of one key, cause, model and minute, counted by all gateways. */
export interface RefusalRow {
  readonly minuteMs: number;
  /** Empty for several keys, without models. */
  readonly keyId: string;
  readonly cause: string;
  /** Empty without a model of the catalog. */
  readonly model: string;
  readonly count: number;
  readonly last: RefusedRequest;
}

/** Identifies a row in a list. */
export type RefusalPosition = Pick<RefusalRow, "minuteMs" | "keyId" | "cause" | "model">;

type Table = Database["tables"]["refusedRequests"];

/**
 * Lists rows, newest minute first; `after` is the last row of the page before. The order is that of the primary key
 * backwards, so that a page reads its own rows only.
 */
export async function listRefusals(
  database: Database,
  filter: RefusalFilter,
  { size, after }: { readonly size: number; readonly after: RefusalPosition | undefined },
): Promise<readonly RefusalRow[]> {
  const { db, tables } = database;
  const table = tables.refusedRequests;
  const { minuteMs, keyId, cause, model, lastRequestId } = table;
  const rows = await db
    .select({ minuteMs, keyId, cause, model, count: totalOf(table), lastId: max(lastRequestId) })
    .from(table)
    .where(and(...conditionsOf(table, filter), after && isAfter(table, after)))
    .groupBy(minuteMs, keyId, cause, model)
    .orderBy(desc(minuteMs), desc(keyId), desc(cause), desc(model))
    .limit(size);
  const lasts = await readLasts(
    database,
    rows.map(({ lastId }) => lastId ?? ""),
  );
  return rows.flatMap(({ lastId, ...row }) => {
    const last = lasts.get(`${row.keyId} ${row.cause} ${lastId}`);
    return last ? [{ ...row, last }] : [];
  });
}

/** A dimension of {@link sumRefusals}. */
export type RefusalDimension = "account" | "key" | "model" | "cause";

export interface RefusalSum {
  /** Start of the time bucket in Unix milliseconds; `undefined` when times are not grouped. */
  readonly timeMs: number | undefined;
  /** Value of the dimension; `undefined` without one. */
  readonly group: string | undefined;
  readonly count: number;
}

export interface RefusalGrouping {
  /** Length of the time buckets in milliseconds; `undefined` sums all times. */
  readonly bucketMs: number | undefined;
  /** Milliseconds that the buckets start before those of UTC. */
  readonly offsetMs: number;
  readonly dimension: RefusalDimension | undefined;
}

const SUMS_MAX = 20_000;

/** Counts refused requests by time and one dimension. Reads at most 20,000 sums. */
export async function sumRefusals(
  { db, tables: { refusedRequests: table } }: Database,
  filter: RefusalFilter,
  { bucketMs, offsetMs, dimension }: RefusalGrouping,
): Promise<readonly RefusalSum[]> {
  const columns = { account: table.accountId, key: table.keyId, model: table.model, cause: table.cause };
  const shifted = sql`(${table.minuteMs} + ${sql.raw(String(offsetMs))})`;
  const length = sql.raw(String(bucketMs ?? 1));
  const time =
    bucketMs === undefined
      ? sql<number>`0`.mapWith(Number)
      : sql<number>`${shifted} / ${length} * ${length} - ${sql.raw(String(offsetMs))}`.mapWith(Number);
  const group = dimension ? columns[dimension] : sql<string>`''`;
  const rows = await db
    .select({
      time: time.as("time"),
      group: sql<string>`${group}`.as("refused_group"),
      count: totalOf(table),
    })
    .from(table)
    .where(and(...conditionsOf(table, filter)))
    .groupBy(sql`1`, sql`2`)
    .limit(SUMS_MAX);
  return rows.map((row) => ({
    timeMs: bucketMs === undefined ? undefined : row.time,
    group: dimension ? row.group : undefined,
    count: row.count,
  }));
}

/** A refused request that was looked up by its id. */
export interface FoundRefusal {
  readonly accountId: string;
  readonly row: RefusalRow;
  /** The request itself; that of the same row whose id is nearest when its own numbers are not kept. */
  readonly request: RefusedRequest;
  readonly isExact: boolean;
}

/** A body may take this long to arrive: the minute of the id is that of the arrival of its first byte. */
const LATE_MS = 5 * MINUTE_MS;
const CANDIDATES_MAX = 2_000;
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Finds a refused request by its id, in one account or in all. Only the latest 8 of each row are kept; for
 * another id of one account returns the nearest request of its minute, which is then not exact.
 */
export async function findRefusal(
  { db, tables: { refusedRequests: table } }: Database,
  requestId: string,
  accountId: string | undefined,
): Promise<FoundRefusal | undefined> {
  if (!UUID_V7.test(requestId)) return undefined;
  const atMs = timeOf(requestId);
  const minuteMs = Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
  const filter = { accountId, fromMs: minuteMs, toMs: minuteMs + LATE_MS };
  const rows = await db
    .select()
    .from(table)
    .where(and(...conditionsOf(table, filter)))
    .orderBy(asc(table.minuteMs))
    .limit(CANDIDATES_MAX);
  const candidates = rows.map((row) => ({ row, recent: parseFacts(row.facts) }));
  for (const { row, recent } of candidates) {
    const request = recent.find(({ id }) => id === requestId);
    if (request) return { accountId: row.accountId, row: rowOf(rows, row, request), request, isExact: true };
  }
  if (accountId === undefined) return undefined;
  // A row that keeps all of its requests has no other one.
  const [nearest] = candidates
    .filter(({ row, recent }) => row.minuteMs === minuteMs && row.count > recent.length)
    .flatMap(({ row, recent }) => recent.map((request) => ({ row, request })))
    .toSorted((one, other) => Math.abs(one.request.atMs - atMs) - Math.abs(other.request.atMs - atMs));
  if (!nearest) return undefined;
  const { row, request } = nearest;
  return { accountId, row: rowOf(rows, row, request), request, isExact: false };
}

type StoredRow = Table["$inferSelect"];
const PLACE = ["accountId", "minuteMs", "keyId", "cause", "model"] as const;

/** Adds up the counts of all gateways. In a row of several keys the request has its own. */
function rowOf(rows: readonly StoredRow[], row: StoredRow, { keyId: ownKey }: RefusedRequest): RefusalRow {
  const { minuteMs, keyId, cause, model } = row;
  const same = rows.filter((each) => PLACE.every((name) => each[name] === row[name]));
  const lasts = same.map(({ facts }) => lastOf(facts)).toSorted((one, other) => other.atMs - one.atMs);
  const count = same.reduce((sum, each) => sum + each.count, 0);
  return { minuteMs, keyId: ownKey ?? keyId, cause, model, count, last: lasts[0] ?? lastOf(row.facts) };
}

/** The facts of the last requests, by key, cause and request id: a request id may be counted once per key. */
async function readLasts(
  { db, tables: { refusedRequests: table } }: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RefusedRequest>> {
  if (ids.length === 0) return new Map();
  const { keyId, cause, lastRequestId, facts } = table;
  const rows = await db
    .select({ keyId, cause, lastRequestId, facts })
    .from(table)
    .where(inArray(lastRequestId, [...new Set(ids)]));
  return new Map(rows.map((row) => [`${row.keyId} ${row.cause} ${row.lastRequestId}`, lastOf(row.facts)]));
}

function lastOf(facts: string): RefusedRequest {
  const last = parseFacts(facts).at(-1);
  if (!last) throw new Error("A row of refused requests has no facts");
  return last;
}

function totalOf({ count }: Table): SQL<number> {
  return sql<number>`sum(${count})`.mapWith(Number);
}

function conditionsOf(table: Table, filter: RefusalFilter): readonly SQL[] {
  const { accountId, fromMs, toMs, keyId, model, causes } = filter;
  return [
    gte(table.minuteMs, fromMs),
    lt(table.minuteMs, toMs),
    ...(accountId === undefined ? [] : [eq(table.accountId, accountId)]),
    ...(keyId === undefined ? [] : [eq(table.keyId, keyId)]),
    ...(model === undefined ? [] : [eq(table.model, model)]),
    ...(causes === undefined ? [] : [inArray(table.cause, [...causes])]),
  ];
}

/** Whether a row comes after a position in a list. */
function isAfter({ minuteMs, keyId, cause, model }: Table, after: RefusalPosition): SQL {
  const bound = sql`CAST(${after.minuteMs} AS bigint)`;
  return sql`(${minuteMs}, ${keyId}, ${cause}, ${model}) < (${bound}, ${after.keyId}, ${after.cause}, ${after.model})`;
}
