// The loop of one export: read a page, deliver it, move the cursor.
import type { Database } from "../db/database.ts";
import { endLease, tryLease } from "../db/leases.ts";
import type { ExportConnection } from "../ledger/exports/connection.ts";
import {
  type CursorMove,
  type ExportCursor,
  joinMoves,
  moveCursor,
  openCursor,
  readCursor,
} from "../ledger/exports/cursor.ts";
import { readPage } from "../ledger/exports/page.ts";
import { platform } from "../platform.ts";
import type { ExportConfig } from "./export-config.ts";
import { type Batch, type Line, printLine, type Sink, SinkError } from "./line.ts";

/** What an export reports while it runs. */
export type ExportEvent =
  | { readonly kind: "delivered"; readonly lines: number; readonly rejected: number }
  /** `failures` counts the failures since the last delivery. */
  | { readonly kind: "failed"; readonly problem: string; readonly failures: number };

export interface ExportParts {
  readonly connection: ExportConnection;
  readonly config: Pick<ExportConfig, "name" | "start" | "batchLines"> & { readonly batchBytes?: number };
  readonly sink: Sink;
  /** Whether this process may run the export now. Other processes of the database then may not. */
  takeLease(): Promise<boolean>;
  report(event: ExportEvent): void;
  readonly now?: () => number;
  /** The pause when everything is exported. Default: 1 s. */
  readonly pollMs?: number;
  /** The first wait after a failure, which doubles up to 60 times as long. Default: 1 s. */
  readonly backoffMs?: number;
}

/** The pause of a process without the lease. */
const LEASE_WAIT_MS = 5_000;
const BACKOFF_GROWTH_MAX = 60;

/** Longer than a thread may be frozen while it writes a file. Another process takes over after that. */
const LEASE_MS = 45_000;
const RENEW_MS = 15_000;

/** Runs an export while no other process of the database does. Like {@link startExport}. */
export function startSharedExport(
  database: Database,
  parts: Omit<ExportParts, "takeLease">,
): { close(): Promise<void> } {
  const lease = { job: `export:${parts.config.name}`, holder: platform.uuid(), ms: LEASE_MS };
  let renewedAtMs = Number.NEGATIVE_INFINITY;
  const work = startExport({
    ...parts,
    async takeLease() {
      if (platform.monotonicMs() - renewedAtMs < RENEW_MS) return true;
      const isTaken = await tryLease(database, lease);
      renewedAtMs = isTaken ? platform.monotonicMs() : Number.NEGATIVE_INFINITY;
      return isTaken;
    },
  });
  return {
    async close() {
      await work.close();
      await endLease(database, lease).catch(() => undefined);
    },
  };
}

/**
 * Runs an export until it is closed. The cursor moves after the sink has taken a batch, so that each line is
 * delivered at least once; a failed batch is tried again for ever. `close` ends a running try.
 */
export function startExport(parts: ExportParts): { close(): Promise<void> } {
  const stop = new AbortController();
  const run = new ExportRun(parts, stop.signal);
  const ended = run.untilStopped();
  return {
    async close() {
      stop.abort();
      await ended;
      parts.sink.close();
    },
  };
}

/** A batch on its way, and where the cursor moves when it is taken. */
interface Pending {
  readonly cursor: ExportCursor;
  readonly batch: Batch;
  readonly move: CursorMove;
  /** Whether the page, or the bytes of the batch, have left lines for the next one. */
  readonly isCut: boolean;
}

class ExportRun {
  readonly #parts: ExportParts;
  readonly #signal: AbortSignal;
  #pending: Pending | undefined;
  #failures = 0;
  /** Lowered while the receiver finds batches too large. */
  #linesMax: number;

  constructor(parts: ExportParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
    this.#linesMax = parts.config.batchLines;
  }

  async untilStopped(): Promise<void> {
    while (!this.#signal.aborted) await this.#pause(await this.#step());
  }

  /** Takes one step and returns the milliseconds to wait after it. Never rejects. */
  async #step(): Promise<number> {
    const { takeLease, pollMs = 1_000 } = this.#parts;
    try {
      if (!(await takeLease())) {
        this.#pending = undefined;
        return LEASE_WAIT_MS;
      }
      this.#pending ??= await this.#read();
      if (!this.#pending) return pollMs;
      const isFull = await this.#deliver(this.#pending);
      return isFull ? 0 : pollMs;
    } catch (fault) {
      return this.#signal.aborted ? 0 : this.#fail(fault);
    }
  }

  /** Reads the next batch. `undefined` when everything is exported, or the database is busy. */
  async #read(): Promise<Pending | undefined> {
    const { connection, config, now = platform.now } = this.#parts;
    const { name, start } = config;
    let cursor = await readCursor(connection, name);
    if (!cursor) {
      await openCursor(connection, { name, start, nowMs: now() });
      cursor = await readCursor(connection, name);
    }
    if (!cursor) return undefined;
    const { entries, move, isCut: isPageCut } = await readPage(connection, cursor, this.#linesMax);
    const lines = cutLines(entries.map(printLine), config.batchBytes);
    const moves = lines.map(({ entry }) => entry.move);
    if (move && lines.length === entries.length) moves.push(move);
    if (moves.length === 0) return undefined;
    const isCut = isPageCut || lines.length < entries.length;
    return { cursor, batch: { id: idOf(lines), lines }, move: joinMoves(moves), isCut };
  }

  /** Delivers a batch and moves the cursor. Returns whether more may be waiting. */
  async #deliver({ cursor, batch, move, isCut }: Pending): Promise<boolean> {
    const { connection, sink, report, config } = this.#parts;
    const { lines } = batch;
    if (lines.length > 0) await connection.sync();
    const rejected = lines.length === 0 ? 0 : await sink.deliver(batch, this.#signal);
    // Another process may have moved the cursor: the next page is read from where it is.
    const isMoved = await moveCursor(connection, cursor, move);
    this.#pending = undefined;
    this.#failures = 0;
    const isFull = isCut || lines.length >= FULL_LINES_MIN || lines.length === 0;
    this.#linesMax = Math.min(config.batchLines, this.#linesMax * 2);
    if (lines.length > 0) report({ kind: "delivered", lines: lines.length, rejected });
    return isFull && isMoved;
  }

  #fail(fault: unknown): number {
    const { report, backoffMs = 1_000 } = this.#parts;
    this.#failures += 1;
    const isTooLarge = fault instanceof SinkError && fault.isTooLarge;
    if (isTooLarge && this.#pending) {
      this.#linesMax = Math.max(1, Math.floor(this.#pending.batch.lines.length / 2));
      this.#pending = undefined;
    }
    report({ kind: "failed", problem: describe(fault), failures: this.#failures });
    const growth = Math.min(2 ** (this.#failures - 1), BACKOFF_GROWTH_MAX);
    const wait = backoffMs * growth * (0.8 + platform.random() * 0.4);
    return Math.max(wait, fault instanceof SinkError ? (fault.waitMs ?? 0) : 0);
  }

  /**
   * Waits, or resolves at once when the export is stopped. Zero gives one event-loop turn to others: on
   * SQLite, no step of a busy export waits for anything else.
   */
  async #pause(ms: number): Promise<void> {
    if (this.#signal.aborted) return;
    if (ms === 0) return new Promise<void>((resolve) => void platform.setImmediate(resolve));
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = platform.setTimeout(resolve, ms);
    this.#signal.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    platform.clearTimeout(timer);
  }
}

/** A page with so many lines is followed by the next one at once. Fewer lines wait for company. */
const FULL_LINES_MIN = 200;

/** The first lines whose bytes fit a batch, and at least one. */
function cutLines(lines: readonly Line[], bytesMax = Number.POSITIVE_INFINITY): readonly Line[] {
  let bytes = 0;
  const end = lines.findIndex(({ text }) => {
    bytes += Buffer.byteLength(text) + 1;
    return bytes > bytesMax;
  });
  return end === -1 ? lines : lines.slice(0, Math.max(1, end));
}

function idOf(lines: readonly Line[]): string {
  const ids = lines.map(({ id }) => id).join("\n");
  return Bun.CryptoHasher.hash("sha256", ids, "hex").slice(0, 32);
}

/** A problem that is fit for logs: faults of the database may quote values. */
function describe(fault: unknown): string {
  if (fault instanceof SinkError) return fault.message;
  const code = fault instanceof Error && "code" in fault ? fault.code : undefined;
  return typeof code === "string" ? `database: ${code}` : "database cannot be read or written";
}
