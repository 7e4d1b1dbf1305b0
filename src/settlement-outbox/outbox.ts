import type { Ledger } from "../ledger/ledger.ts";
import type { OpenLogSync } from "../ledger/sqlite/log-sync.ts";
import { platform, waitAtMost } from "../platform.ts";
import type { Log } from "../telemetry/log.ts";
import { printEntry, type SettlementOutbox, SettlementOutboxError } from "./entry.ts";
import type { NewEntry } from "./file.ts";
import { type OutboxOwner, openOutboxFiles } from "./folder.ts";
import { createReplayer, type ReplayOptions, startReplayLoop } from "./replay.ts";

/** The outbox of one process. Replays its entries until the ledger accepts them. */
export interface OpenSettlementOutbox extends SettlementOutbox {
  /** The number of entries to replay, including those adopted from dead processes. */
  pending(): number;
  /** When the oldest pending entry was written, in Unix milliseconds; `undefined` without one. */
  oldestAtMs(): number | undefined;
  /** Replays. Resolves when nothing is pending, or after `ms` milliseconds. */
  drain(ms: number): Promise<void>;
  /** Accepts no more entries, drains for at most `closeMs`, and leaves the rest on disk. */
  close(): Promise<void>;
}

export interface SettlementOutboxOptions extends ReplayOptions {
  /** The data folder, shared by processes; created when missing. */
  readonly folder: string;
  readonly ledger: Ledger;
  readonly log: Log;
  /** Called for each entry that the ledger declined for good. */
  readonly onDeclined?: () => void;
  readonly now?: () => number;
  /** The database that the settlements belong to. Default: files of every database are adopted. */
  readonly owner?: OutboxOwner;
  /** Opens what syncs a file. Default: the disk. */
  readonly openLog?: OpenLogSync | undefined;
  /** The maximum of pending entries; more are rejected as `full`. */
  readonly entriesMax?: number;
  /** How long {@link OpenSettlementOutbox.close} drains. */
  readonly closeMs?: number;
}

/** Several times the size of an entry with 4 KiB of metadata and the longest names. */
const ENTRY_BYTES_MAX = 64 * 1024;
/**
 * `release_if_held` entries may use 1/100 of the space: their holds also expire by themselves, and the
 * entries carry no money.
 */
const RELEASE_IF_HELD_SHARE = 100;
const DRAIN_PAUSE_MS = 50;

/** Opens an outbox for this process. Throws when the folder cannot be used. */
export function openSettlementOutbox(options: SettlementOutboxOptions): OpenSettlementOutbox {
  const {
    folder,
    ledger,
    log,
    now = platform.now,
    entriesMax = 1_000_000,
    closeMs = 2_000,
    onDeclined,
  } = options;
  const files = openOutboxFiles(folder, { now, log, owner: options.owner, openLog: options.openLog });
  const commits = createCommitGroup<NewEntry>((entries) => {
    // Counts the entries before it waits for the disk.
    const committed = files.commit(entries);
    replayLoop.wake();
    return committed;
  });
  const replayer = createReplayer({ ledger, log, now, onDeclined });
  const replayLoop = startReplayLoop({ files, replayer, log }, options);
  let isClosed = false;

  async function drain(ms: number): Promise<void> {
    const untilMs = platform.monotonicMs() + ms;
    await commits.idle();
    for (let leftMs = ms; files.pending() > 0 && leftMs > 0; leftMs = untilMs - platform.monotonicMs()) {
      await waitAtMost(leftMs, replayLoop.replayNow());
      if (files.pending() > 0) await platform.sleep(Math.min(leftMs, DRAIN_PAUSE_MS));
    }
  }

  return {
    async append(entry) {
      if (isClosed) throw new SettlementOutboxError("closed");
      const max = entry.kind === "release_if_held" ? entriesMax / RELEASE_IF_HELD_SHARE : entriesMax;
      if (files.pending() + commits.waiting >= max) throw new SettlementOutboxError("full");
      const text = printEntry(entry);
      if (Buffer.byteLength(text) > ENTRY_BYTES_MAX) throw new SettlementOutboxError("too_large");
      await commits.add({ holdId: entry.request.holdId, text }).catch((fault: unknown) => {
        throw new SettlementOutboxError("not_written", fault);
      });
    },
    pending: files.pending,
    oldestAtMs: files.oldestAtMs,
    drain,
    async close() {
      if (isClosed) return;
      isClosed = true;
      replayLoop.stop();
      await drain(closeMs);
      replayer.stop();
      const entries = files.pending();
      if (entries > 0) log.warn({ entries, folder }, "settlements left in the outbox");
      files.close();
    },
  };
}

/** Commits items in groups, one commit at a time. */
export interface CommitGroup<Item> {
  /** Resolves when the item is committed. Rejects with the error of its commit. */
  add(item: Item): Promise<void>;
  /** The number of items that are not committed yet. */
  readonly waiting: number;
  /** Resolves when every item is committed. */
  idle(): Promise<void>;
}

/** Groups the items of one event-loop turn, and those that arrive during a commit. */
export function createCommitGroup<Item>(
  commit: (items: readonly Item[]) => Promise<void>,
): CommitGroup<Item> {
  let next: { readonly items: Item[]; readonly done: PromiseWithResolvers<void> } | undefined;
  let committing = 0;
  let running: Promise<void> | undefined;

  const run = async () => {
    // Waits for the rest of this event-loop turn.
    await new Promise<void>((resolve) => platform.setImmediate(resolve));
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
