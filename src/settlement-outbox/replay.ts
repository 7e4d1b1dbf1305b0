import { printUsd } from "../domain/money.ts";
import { type Ledger, LedgerError } from "../ledger/ledger.ts";
import { platform, SharedTimer } from "../platform.ts";
import { describeFault, type Log, type LogFields } from "../telemetry/log.ts";
import { isRetryable, ledgerTooLate, type OutboxEntry, parseEntry, submitEntry } from "./entry.ts";
import type { DeclinedEntry, OutboxFile, StoredEntry } from "./file.ts";
import type { OutboxFiles } from "./folder.ts";

/** Replays the outbox files of this process again and again. */
export interface ReplayLoop {
  /** Resolves when the pass ends that is running, or that this call starts. */
  replayNow(): Promise<void>;
  /** Ends the rest of a loop that has had no entries. Must be called when entries were written. */
  wake(): void;
  stop(): void;
}

export interface ReplayOptions {
  /** The pause between two passes; up to 5 times as long while the ledger is unavailable. */
  readonly everyMs?: number;
  /** How often a pass looks for files of dead processes. */
  readonly adoptEveryMs?: number;
}

/** The longest backoff while the ledger is unavailable, in pauses. */
const BACKOFF_MAX = 5;

/** Starts the loop; the first pass begins at once. Without entries it rests until it looks for files again. */
export function startReplayLoop(
  { files, replayer, log }: { readonly files: OutboxFiles; readonly replayer: Replayer; readonly log: Log },
  { everyMs = 1_000, adoptEveryMs = 10_000 }: ReplayOptions,
): ReplayLoop {
  let running: Promise<void> | undefined;
  let backoff = 1;
  let adoptAt = platform.monotonicMs();
  let isStopped = false;
  let isResting = false;
  let timer = platform.setTimeout(runNext, 0);

  function replayNow(): Promise<void> {
    running ??= replayAll().finally(() => {
      running = undefined;
    });
    return running;
  }
  async function replayAll(): Promise<void> {
    for (const file of files.all()) {
      // Counted in memory: no other process writes a file that this one holds.
      if (file.pending === 0) continue;
      await replayer.replay(file).catch((fault: unknown) => files.reportFault(file, fault));
    }
    files.closeReplayed();
  }
  /** Jitter: replicas that lost their ledger together would otherwise return together. */
  function schedule(restMs: number): void {
    timer = platform.setTimeout(runNext, restMs + everyMs * backoff * (0.8 + platform.random() * 0.4));
  }
  async function runNext(): Promise<void> {
    isResting = false;
    try {
      if (platform.monotonicMs() >= adoptAt) {
        files.adopt();
        adoptAt = platform.monotonicMs() + adoptEveryMs;
      }
      await replayNow();
    } catch (fault) {
      log.error(describeFault(fault), "settlement replay failed");
    }
    backoff = replayer.isAway ? Math.min(backoff * 2, BACKOFF_MAX) : 1;
    if (isStopped) return;
    isResting = files.pending() === 0;
    schedule(isResting ? Math.max(0, adoptAt - platform.monotonicMs()) : 0);
  }

  return {
    replayNow,
    wake() {
      if (!isResting || isStopped) return;
      isResting = false;
      platform.clearTimeout(timer);
      schedule(0);
    },
    stop() {
      isStopped = true;
      platform.clearTimeout(timer);
    },
  };
}

/** Submits the entries of outbox files to the ledger. */
export interface Replayer {
  /** Whether the ledger accepted none of the last entries. */
  readonly isAway: boolean;
  /** Replays a file to its end, or until the ledger is unavailable; the next call continues from there. */
  replay(file: OutboxFile): Promise<void>;
  /** After `stop`, no result changes a file. */
  stop(): void;
}

export interface ReplayerParts {
  readonly ledger: Ledger;
  readonly log: Log;
  readonly now: () => number;
  /** Called for each entry that the ledger declined for good. */
  readonly onDeclined?: (() => void) | undefined;
}

/** The most entries submitted at once. While the ledger is unavailable, one entry is submitted as a probe. */
const PARALLEL = 256;
const ANSWER_MAX_MS = 10_000;

export function createReplayer({ ledger, log, now, onDeclined }: ReplayerParts): Replayer {
  /** The last sequence number read of each file, so that entries that always fail do not block others. */
  const positions = new WeakMap<OutboxFile, number>();
  const timer = new SharedTimer(() => platform.monotonicMs());
  let away = false;
  let isStopped = false;

  function nextOf(file: OutboxFile): readonly StoredEntry[] {
    const max = away ? 1 : PARALLEL;
    const position = positions.get(file) ?? 0;
    const next = file.read(position, max);
    return next.length === 0 && away ? file.read(0, max) : next;
  }
  function finish(file: OutboxFile, results: readonly ReplayResult[]): void {
    const completed = results.filter(({ kind }) => kind === "completed").map(({ seq }) => seq);
    const declined = results.filter((result) => result.kind === "declined");
    if (completed.length + declined.length > 0) file.finish(completed, declined, now());
    for (const { fields, refusal } of declined) {
      log.error({ ...fields, refusal }, "settlement declined for good");
      onDeclined?.();
    }
  }
  function noteAway(results: readonly ReplayResult[]): void {
    const retried = results.filter((result) => result.kind === "retry");
    const isNowAway = retried.length === results.length;
    if (isNowAway && !away) log.warn(describeFault(retried[0]?.fault), "settlement replay suspended");
    if (!isNowAway && away) log.info({}, "settlement replay resumed");
    away = isNowAway;
  }

  return {
    get isAway() {
      return away;
    },
    async replay(file) {
      while (!isStopped) {
        const entries = nextOf(file);
        const results = await Promise.all(entries.map((entry) => replayEntry(ledger, timer, entry)));
        if (isStopped) return;
        positions.set(file, entries.at(-1)?.seq ?? 0);
        if (entries.length === 0) return;
        finish(file, results);
        noteAway(results);
        if (away) return;
      }
    },
    stop() {
      isStopped = true;
    },
  };
}

/** The result of one entry. `retry` keeps the entry, `declined` moves it to the declined entries. */
type ReplayResult =
  | { readonly kind: "completed"; readonly seq: number }
  | { readonly kind: "retry"; readonly seq: number; readonly fault: unknown }
  | ({ readonly kind: "declined"; readonly fields: LogFields } & DeclinedEntry);

async function replayEntry(
  ledger: Ledger,
  timer: SharedTimer,
  { seq, holdId, text }: StoredEntry,
): Promise<ReplayResult> {
  const entry = tryParse(text);
  if (!entry) return { kind: "declined", seq, refusal: "unreadable", fields: { request: holdId } };
  try {
    await timer.limit(ANSWER_MAX_MS, submitEntry(ledger, entry), ledgerTooLate);
    return { kind: "completed", seq };
  } catch (fault) {
    if (!(fault instanceof LedgerError) || isRetryable(fault)) return { kind: "retry", seq, fault };
    // Any decline means there is no hold left to release.
    if (entry.kind === "release_if_held") return { kind: "completed", seq };
    return { kind: "declined", seq, refusal: fault.code, fields: logFieldsOf(entry) };
  }
}

function tryParse(text: string | undefined): OutboxEntry | undefined {
  try {
    return text === undefined ? undefined : parseEntry(text);
  } catch {
    return undefined;
  }
}

function logFieldsOf({ kind, request }: OutboxEntry): LogFields {
  const { walletId, holdId } = request;
  const amountUsd = "amount" in request ? printUsd(request.amount) : "0.00";
  return { request: holdId, wallet: walletId, does: kind, amountUsd };
}
