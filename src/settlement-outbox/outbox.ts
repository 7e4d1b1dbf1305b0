import type { Ledger } from "../ledger/ledger.ts";
import type { Log } from "../telemetry/log.ts";
import { waitAtMost } from "../time.ts";
import { type Journal, JournalError, printEntry } from "./entry.ts";
import type { NewEntry } from "./file.ts";
import { openJournalFiles } from "./folder.ts";
import { createReplayer, type RoundOptions, startRounds } from "./replay.ts";

/** The journal of one process. What it holds is replayed to the ledger until that has taken it. */
export interface OpenJournal extends Journal {
  /** Entries that the ledger has not taken, those of dead processes that this one took over among them. */
  pending(): number;
  /** Resolves when nothing is pending, or after so many milliseconds. */
  drain(ms: number): Promise<void>;
  /** Takes no more, tries once more to give the ledger what is left, and leaves the rest on disk. */
  close(): Promise<void>;
}

export interface JournalOptions extends RoundOptions {
  /** The data folder, in which each process has a journal of its own; made when it is not there. */
  readonly folder: string;
  readonly ledger: Ledger;
  readonly log: Log;
  readonly now?: () => number;
  /** Entries that may be pending; above it nothing more is taken. */
  readonly entriesMax?: number;
  /** How long {@link OpenJournal.close} tries. */
  readonly closeMs?: number;
}

/** Four kilobytes of metadata and as much of names fit many times over. */
const ENTRY_BYTES_MAX = 64 * 1024;
/** A hold that is not freed expires: such entries must not use up the room of those that carry money. */
const ABANDONED_SHARE = 100;
const DRAIN_PAUSE_MS = 50;

/** Opens a journal of its own for this process. Throws when the folder cannot be used. */
export function openJournal(options: JournalOptions): OpenJournal {
  const { folder, ledger, log, now = Date.now, entriesMax = 1_000_000, closeMs = 2_000 } = options;
  const files = openJournalFiles(folder, { now, log });
  const group = createGroup<NewEntry>(files.commit);
  const replayer = createReplayer({ ledger, log, now });
  const rounds = startRounds({ files, replayer, log }, options);
  let isClosed = false;

  async function drain(ms: number): Promise<void> {
    const untilMs = performance.now() + ms;
    await group.idle();
    for (let leftMs = ms; files.pending() > 0 && leftMs > 0; leftMs = untilMs - performance.now()) {
      await waitAtMost(leftMs, rounds.replayNow());
      if (replayer.isAway) await Bun.sleep(Math.min(leftMs, DRAIN_PAUSE_MS));
    }
  }

  return {
    async append(entry) {
      if (isClosed) throw new JournalError("closed");
      const max = entry.kind === "abandon" ? entriesMax / ABANDONED_SHARE : entriesMax;
      if (files.pending() + group.waiting >= max) throw new JournalError("full");
      const text = printEntry(entry);
      if (Buffer.byteLength(text) > ENTRY_BYTES_MAX) throw new JournalError("too_large");
      await group.add({ holdId: entry.request.holdId, text }).catch((fault: unknown) => {
        throw new JournalError("not_written", fault);
      });
    },
    pending: files.pending,
    drain,
    async close() {
      if (isClosed) return;
      isClosed = true;
      rounds.stop();
      await drain(closeMs);
      replayer.stop();
      const entries = files.pending();
      if (entries > 0) log.warn({ entries, folder }, "settlements are left in the journal");
      files.close();
    },
  };
}

/** Commits together what comes together. */
export interface Group<Item> {
  /** Resolves when the item is committed; rejects with what its commit threw. */
  add(item: Item): Promise<void>;
  /** Items that are not committed yet. */
  readonly waiting: number;
  /** Resolves when none is. */
  idle(): Promise<void>;
}

/**
 * Gathers what one turn of the event loop brings, and then what comes while the disk works: one commit runs
 * at a time.
 */
export function createGroup<Item>(commit: (items: readonly Item[]) => Promise<void>): Group<Item> {
  let next: { readonly items: Item[]; readonly done: PromiseWithResolvers<void> } | undefined;
  let committing = 0;
  let running: Promise<void> | undefined;

  const run = async () => {
    // Not at once: the rest of this turn is to come along.
    await new Promise(setImmediate);
    while (next) {
      const { items, done } = next;
      next = undefined;
      committing = items.length;
      await commit(items).then(done.resolve, done.reject);
      committing = 0;
    }
    running = undefined;
  };

  return {
    add(item) {
      next ??= { items: [], done: Promise.withResolvers() };
      next.items.push(item);
      running ??= run();
      return next.done.promise;
    },
    get waiting() {
      return committing + (next?.items.length ?? 0);
    },
    idle: async () => running,
  };
}
