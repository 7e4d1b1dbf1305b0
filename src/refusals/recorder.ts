import { lt, min, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { chunksOf } from "../domain/chunks.ts";
import type { Cause } from "../errors.ts";
import { platform, waitAtMost } from "../platform.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import {
  KEPT_MS,
  MINUTE_MS,
  printFacts,
  type Refusal,
  type RefusalRecorder,
  type RefusedRequest,
  readRefused,
  SEVERAL_KEYS,
} from "./refusal.ts";

/** A killed process loses the counts of at most this long. */
const FLUSH_MS = 5_000;
const SWEEP_MS = 3_600_000;
/**
 * The rows counted at once. An account adds rows while it has fewer than are free, so that there is room for the others
 * whatever it does. Further refusals are not counted until rows are written.
 */
const ROWS_MAX = 10_000;
/** The rows of an account at once, in a minute as a rule. Further refusals are added up by minute and cause alone. */
const ACCOUNT_ROWS_MAX = 100;
/** The latest requests of a row whose numbers are kept. */
const RECENT_MAX = 8;
const CLOSE_MS_MAX = 2_000;

/** A recorder that writes its counts to the database every 5 s and deletes those of over 7 days ago. */
interface RunningRecorder extends RefusalRecorder {
  /** Writes the last counts, for at most 2 s. */
  close(): Promise<void>;
}

interface RecorderOptions {
  readonly database: Database;
  readonly log: Log;
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** Default: 5,000. */
  readonly flushMs?: number;
  /** Default: 10,000. */
  readonly rowsMax?: number;
}

/** Starts a recorder. Its rows are its own: no other process writes them. */
export function startRefusalRecorder(options: RecorderOptions): RunningRecorder {
  return new MemoryRecorder(options);
}

interface Row extends Omit<RefusalCount, "count" | "recent"> {
  /** The refusals that are not written yet. */
  pending: number;
  readonly recent: RefusedRequest[];
}

class MemoryRecorder implements RunningRecorder {
  readonly #database: Database;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #rowsMax: number;
  readonly #gatewayId = platform.uuid();
  readonly #rows = new Map<string, Row>();
  /** By account. */
  readonly #rowCounts = new Map<string, number>();
  readonly #timers: readonly Timer[];
  #flushed: Promise<void> = Promise.resolve();
  /** Flushes that have not ended: a database that does not answer gets no more of them. */
  #waiting = 0;
  #uncounted = 0;

  constructor({
    database,
    log,
    now = platform.now,
    flushMs = FLUSH_MS,
    rowsMax = ROWS_MAX,
  }: RecorderOptions) {
    this.#database = database;
    this.#log = log;
    this.#now = now;
    this.#rowsMax = rowsMax;
    this.#timers = [
      platform
        .setInterval(() => {
          if (this.#waiting === 0) void this.flush();
        }, flushMs)
        .unref(),
      platform.setInterval(() => void this.#sweep(), SWEEP_MS).unref(),
    ];
  }

  note(refusal: Refusal): void {
    const atMs = this.#now();
    const minuteMs = Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
    const { accountId, keyId, cause, model = "" } = refusal;
    const row = this.#rowOf({ accountId, keyId, cause, model, minuteMs });
    if (!row) {
      this.#uncounted += 1;
      return;
    }
    row.pending += 1;
    if (row.recent.length >= RECENT_MAX) row.recent.shift();
    row.recent.push({ ...readRefused(refusal, atMs), ...(row.keyId === SEVERAL_KEYS && { keyId }) });
  }

  /** Returns the row of a key, or beyond the bound that of several keys; `undefined` when the memory is full. */
  #rowOf(place: Omit<Row, "pending" | "recent">): Row | undefined {
    const { accountId, keyId, cause, model, minuteMs } = place;
    const id = `${accountId} ${keyId} ${cause} ${minuteMs} ${model}`;
    const known = this.#rows.get(id);
    if (known) return known;
    const own = this.#rowCounts.get(accountId) ?? 0;
    if (own >= this.#rowsMax - this.#rows.size) return undefined;
    if (own >= ACCOUNT_ROWS_MAX && keyId !== SEVERAL_KEYS) {
      return this.#rowOf({ ...place, keyId: SEVERAL_KEYS, model: "" });
    }
    const row = { ...place, pending: 0, recent: [] };
    this.#rows.set(id, row);
    this.#rowCounts.set(accountId, own + 1);
    return row;
  }

  flush(): Promise<void> {
    this.#waiting += 1;
    this.#flushed = this.#flushed.then(async () => {
      await this.#write();
      this.#waiting -= 1;
    });
    return this.#flushed;
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) platform.clearInterval(timer);
    await waitAtMost(CLOSE_MS_MAX, this.flush());
  }

  async #write(): Promise<void> {
    if (this.#uncounted > 0) this.#log.warn({ requests: this.#uncounted }, "refused requests not counted");
    this.#uncounted = 0;
    const rows = [...this.#rows.values()].filter(({ pending }) => pending > 0);
    try {
      for (const chunk of chunksOf(rows, ROWS_PER_WRITE)) {
        const counts = chunk.map(countOf);
        await writeRefusals(this.#database, this.#gatewayId, counts);
        for (const [index, row] of chunk.entries()) row.pending -= counts[index]?.count ?? 0;
      }
    } catch (fault) {
      this.#log.warn(describeFault(fault), "refused requests not written");
    }
    this.#forget();
  }

  /** A row is kept while its minute lasts, so that its latest requests stay together. */
  #forget(): void {
    const now = this.#now();
    for (const [id, { accountId, pending, minuteMs }] of this.#rows) {
      const isOver = now < minuteMs || now >= minuteMs + MINUTE_MS;
      if (pending > 0 || !isOver) continue;
      this.#rows.delete(id);
      const left = (this.#rowCounts.get(accountId) ?? 1) - 1;
      if (left === 0) this.#rowCounts.delete(accountId);
      else this.#rowCounts.set(accountId, left);
    }
  }

  async #sweep(): Promise<void> {
    try {
      await sweepRefusals(this.#database, this.#now() - KEPT_MS);
    } catch (fault) {
      this.#log.warn(describeFault(fault), "refused requests not swept");
    }
  }
}

function countOf({ pending, recent, ...row }: Row): RefusalCount {
  return { ...row, count: pending, recent: [...recent] };
}

/** Refused requests of one key, cause, model and minute, since the row was last written. */
interface RefusalCount {
  readonly accountId: string;
  readonly keyId: string;
  readonly cause: Cause;
  /** Empty without a model of the catalog. */
  readonly model: string;
  readonly minuteMs: number;
  readonly count: number;
  /** Oldest first, never empty. */
  readonly recent: readonly RefusedRequest[];
}

/** So few rows that a transaction holds SQLite's write lock for under 5 ms. */
const ROWS_PER_WRITE = 50;
/** A sweep deletes the rows of so many milliseconds at once. */
const SWEEP_STEP_MS = 3_600_000;

/**
 * Adds at most {@link ROWS_PER_WRITE} counts to the rows of a gateway, in one transaction. Counts of a
 * transaction whose commit is in doubt may be added twice.
 */
async function writeRefusals(
  { transact, tables: { refusedRequests } }: Database,
  gatewayId: string,
  counts: readonly RefusalCount[],
): Promise<void> {
  const values = counts.map(({ recent, ...count }) => ({
    ...count,
    gatewayId,
    lastRequestId: recent.at(-1)?.id ?? "",
    facts: printFacts(recent),
  }));
  const { accountId, minuteMs, keyId, cause, model } = refusedRequests;
  await transact((tx) =>
    tx
      .insert(refusedRequests)
      .values(values)
      .onConflictDoUpdate({
        target: [accountId, minuteMs, keyId, cause, model, refusedRequests.gatewayId],
        set: {
          count: sql`${refusedRequests.count} + excluded.count`,
          lastRequestId: sql`excluded.last_request_id`,
          facts: sql`excluded.facts`,
        },
      }),
  );
}

/** Deletes the rows of minutes before a time, an hour of rows per transaction. */
export async function sweepRefusals(
  { db, transact, tables: { refusedRequests } }: Database,
  beforeMs: number,
): Promise<void> {
  const { minuteMs } = refusedRequests;
  for (;;) {
    const [row] = await db.select({ oldest: min(minuteMs) }).from(refusedRequests);
    const oldest = row?.oldest ?? beforeMs;
    if (oldest >= beforeMs) return;
    const untilMs = Math.min(beforeMs, oldest + SWEEP_STEP_MS);
    await transact((tx) => tx.delete(refusedRequests).where(lt(minuteMs, untilMs)));
  }
}
