import { and, eq, gte, lt, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { ROUTE_BOUNDS_MS, ROUTE_COUNT_COLUMNS } from "../db/usage-columns.ts";
import { DAY_MS, HOUR_MS, startOf } from "../domain/id-time.ts";
import { platform, repeat, waitAtMost } from "../platform.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import type { EndedRequest } from "../telemetry/request-metrics.ts";

/** A killed process loses the counts of at most this long. */
const FLUSH_MS = 10_000;
const CLOSE_MS_MAX = 2_000;
/** The figures are of one day; the rest is for clocks that differ. */
const KEPT_MS = 2 * DAY_MS;
/** So few rows that a transaction holds SQLite's write lock for under 5 ms. */
const ROWS_PER_WRITE = 50;

/** Outcomes that say how a route works. All others lie with the client, the account or this gateway. */
const ANSWERED: readonly string[] = ["ok", "empty_completion"];
const FAILED: readonly string[] = ["upstream_unavailable", "upstream_timeout"];

/** A route of a model; the upstream "" stands for the requests of the model, whatever routes they took. */
export interface RouteName {
  readonly model: string;
  readonly upstream: string;
  readonly upstreamModel: string;
}

/** What ended, at one route or as a whole. */
interface Ended {
  /** `ok`, `client_closed`, or a code of the error contract. */
  readonly outcome: string;
  /** Of a streamed answer. */
  readonly firstOutputMs: number | undefined;
}

/** Counts of one route in one hour, in the order of {@link ROUTE_COUNT_COLUMNS}. */
interface Pending {
  readonly startMs: number;
  readonly name: RouteName;
  readonly counts: number[];
}

interface Options {
  readonly database: Database;
  readonly log: Log;
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** Default: 10,000. */
  readonly flushMs?: number;
}

/** Counts attempts and requests in memory, and adds them to the rows of their hour every 10 s. */
export class RouteHours {
  readonly #database: Database;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #work: { close(): Promise<void> };
  #pending = new Map<string, Pending>();
  #sweptMs = 0;

  constructor({ database, log, now = platform.now, flushMs = FLUSH_MS }: Options) {
    this.#database = database;
    this.#log = log;
    this.#now = now;
    const onFault = (fault: unknown) => this.#log.warn(describeFault(fault), "figures of routes not written");
    this.#work = repeat({ everyMs: flushMs, run: () => this.flush(), onFault });
  }

  /** Counts what ended at a route. The names are those of the catalog, so that no client adds rows. */
  ended(name: RouteName, { outcome, firstOutputMs }: Ended): void {
    const isAnswered = ANSWERED.includes(outcome);
    if (!isAnswered && !FAILED.includes(outcome)) return;
    const { counts } = this.#obtain(startOf(this.#now(), HOUR_MS), name);
    const at = isAnswered ? 0 : 1;
    counts[at] = (counts[at] ?? 0) + 1;
    if (!isAnswered || firstOutputMs === undefined) return;
    const bucket = 2 + bucketOf(firstOutputMs);
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }

  /** Counts a request for its model, with the first output that its client had. Models of the catalog have a name. */
  requestEnded({ model, code: outcome, settled }: EndedRequest): void {
    if (model === "") return;
    this.ended(
      { model, upstream: "", upstreamModel: "" },
      { outcome, firstOutputMs: settled?.firstOutputMs },
    );
  }

  /** Writes the counts so far. What was not written is tried again by the next call. */
  async flush(): Promise<void> {
    const rows = [...this.#pending.values()].toSorted(inOrder);
    this.#pending = new Map();
    while (rows.length > 0) {
      const chunk = rows.splice(0, ROWS_PER_WRITE);
      try {
        await addCounts(this.#database, chunk);
      } catch (fault) {
        for (const row of [...chunk, ...rows]) this.#putBack(row);
        throw fault;
      }
    }
    await this.#sweep();
  }

  /** Writes the last counts, for at most 2 s. */
  async close(): Promise<void> {
    await waitAtMost(CLOSE_MS_MAX, this.#work.close());
    const last = this.flush().catch((fault: unknown) =>
      this.#log.warn(describeFault(fault), "figures of routes not written"),
    );
    await waitAtMost(CLOSE_MS_MAX, last);
  }

  #obtain(startMs: number, name: RouteName): Pending {
    const id = `${startMs}\n${name.model}\n${name.upstream}\n${name.upstreamModel}`;
    const known = this.#pending.get(id);
    if (known) return known;
    const created = { startMs, name, counts: ROUTE_COUNT_COLUMNS.map(() => 0) };
    this.#pending.set(id, created);
    return created;
  }

  #putBack({ startMs, name, counts }: Pending): void {
    const { counts: sums } = this.#obtain(startMs, name);
    for (const [index, count] of counts.entries()) sums[index] = (sums[index] ?? 0) + count;
  }

  /** Deletes old hours, once an hour. */
  async #sweep(): Promise<void> {
    const hourMs = startOf(this.#now(), HOUR_MS);
    if (hourMs === this.#sweptMs) return;
    const { transact, tables } = this.#database;
    const { routeHours } = tables;
    await transact((tx) => tx.delete(routeHours).where(lt(routeHours.startMs, hourMs - KEPT_MS)));
    this.#sweptMs = hourMs;
  }
}

function bucketOf(ms: number): number {
  const found = ROUTE_BOUNDS_MS.findIndex((bound) => ms <= bound);
  return found === -1 ? ROUTE_BOUNDS_MS.length : found;
}

/** One order for every gateway: transactions that lock rows in different orders would wait for each other forever. */
function inOrder(one: Pending, other: Pending): number {
  return (
    one.startMs - other.startMs ||
    compare(one.name.model, other.name.model) ||
    compare(one.name.upstream, other.name.upstream) ||
    compare(one.name.upstreamModel, other.name.upstreamModel)
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Adds counts to the rows of their hours. Counts of a transaction whose commit is in doubt may be added twice. */
async function addCounts(
  { transact, tables: { routeHours } }: Database,
  rows: readonly Pending[],
): Promise<void> {
  const values = rows.map(({ startMs, name, counts }) => ({
    startMs,
    ...name,
    ...Object.fromEntries(ROUTE_COUNT_COLUMNS.map((column, index) => [column, counts[index] ?? 0])),
  }));
  const sums = ROUTE_COUNT_COLUMNS.map(
    (column) => [column, sql.raw(`route_hours.${column} + excluded.${column}`)] as const,
  );
  const { startMs, model, upstream, upstreamModel } = routeHours;
  await transact((tx) =>
    tx
      .insert(routeHours)
      .values(values)
      .onConflictDoUpdate({
        target: [startMs, model, upstream, upstreamModel],
        set: Object.fromEntries(sums),
      }),
  );
}

/** The sums of one route, or of the requests of a model. */
export interface RouteSum extends RouteName {
  /** Start of the UTC hour in Unix milliseconds; 0 where hours are summed up. */
  readonly startMs: number;
  readonly answered: number;
  readonly failed: number;
  /** First outputs of streams, by the buckets of {@link ROUTE_BOUNDS_MS}. */
  readonly firstOutputMs: readonly number[];
}

interface RouteQuery {
  readonly fromMs: number;
  /** Default: every model. */
  readonly model?: string | undefined;
  /** Whether each hour has sums of its own. */
  readonly byHour?: boolean;
}

/** Reads what all gateways have counted since the hour of a time. */
export async function sumRoutes(
  { db, tables: { routeHours: table } }: Database,
  { fromMs, model: only, byHour = false }: RouteQuery,
): Promise<readonly RouteSum[]> {
  const { startMs, model, upstream, upstreamModel } = table;
  const hour = byHour ? sql`${startMs}` : sql`0`;
  const counts = ROUTE_COUNT_COLUMNS.map(
    (column) => [column, sql.raw(`sum(${column})`).mapWith(Number).as(column)] as const,
  );
  const since = gte(startMs, startOf(fromMs, HOUR_MS));
  const rows = await db
    .select({
      ...{ model, upstream, upstreamModel },
      startMs: hour.mapWith(Number).as("hour_ms"),
      ...Object.fromEntries(counts),
    })
    .from(table)
    .where(only === undefined ? since : and(since, eq(model, only)))
    .groupBy(model, upstream, upstreamModel, ...(byHour ? [startMs] : []));
  return rows.map(readSum);
}

function readSum(row: Readonly<Record<string, unknown>>): RouteSum {
  const [answered = 0, failed = 0, ...firstOutputMs] = ROUTE_COUNT_COLUMNS.map((name) => Number(row[name]));
  const [model = "", upstream = "", upstreamModel = ""] = [row.model, row.upstream, row.upstreamModel].map(
    String,
  );
  return { model, upstream, upstreamModel, startMs: Number(row.startMs), answered, failed, firstOutputMs };
}
