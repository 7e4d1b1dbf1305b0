import { platform } from "../../platform.ts";
import type { Command, CommandResult, Decision } from "../core/command.ts";
import { decide } from "../core/decide.ts";
import { LedgerError } from "../ledger.ts";
import type { Batch, BatchObserver } from "./store.ts";

/** A command in the queue, with the callbacks of its promise. */
export interface QueuedCommand {
  readonly command: Command;
  /** Unix milliseconds after which the command is not decided any more. */
  readonly deadlineMs: number | undefined;
  /** Whether the command completes only when its commit is on disk. */
  readonly awaitsDisk: boolean;
  readonly resolve: (result: CommandResult) => void;
  readonly reject: (error: LedgerError) => void;
}

export interface BatchBounds {
  readonly commandsMax: number;
  readonly walletsMax: number;
  readonly now: () => number;
}

/** A batch taken from the head of the queue. `queued` is filled by the store's calls. */
export interface QueueBatch extends Batch {
  readonly walletIds: ReadonlySet<string>;
  readonly queued: readonly QueuedCommand[];
}

export function createBatch(queue: QueuedCommand[], bounds: BatchBounds): QueueBatch {
  const walletIds = walletsOf(queue, bounds);
  let queued: readonly QueuedCommand[] = [];
  const decisions: Decision<CommandResult>[] = [];
  return {
    walletIds,
    decisions,
    get queued() {
      return queued;
    },
    collect() {
      const commandsMax = bounds.commandsMax - queued.length;
      queued = [...queued, ...takeCommands(queue, walletIds, { ...bounds, commandsMax })];
      return queued.map(({ command }) => command);
    },
    decide(books, nowMs) {
      decisions.length = 0;
      for (const { command } of queued) {
        const book = books.get(command.request.walletId);
        if (!book) throw new Error("Cannot decide: a wallet's book was not read");
        const decision = decide(book, command, nowMs);
        if ("changes" in decision) book.apply(decision.changes);
        decisions.push(decision);
      }
      return decisions.every((decision) => "changes" in decision);
    },
  };
}

/** Returns the wallets to lock: those of the first commands in the queue. */
function walletsOf(
  queue: readonly QueuedCommand[],
  { commandsMax, walletsMax }: BatchBounds,
): ReadonlySet<string> {
  const walletIds = new Set<string>();
  for (let seen = 0; seen < queue.length && seen < commandsMax && walletIds.size < walletsMax; seen++) {
    const queued = queue[seen];
    if (queued) walletIds.add(queued.command.request.walletId);
  }
  return walletIds;
}

/**
 * Takes the first commands of the locked wallets off the queue. Commands of other wallets keep their places;
 * commands past their deadline fail instead.
 */
function takeCommands(
  queue: QueuedCommand[],
  walletIds: ReadonlySet<string>,
  { commandsMax, now }: BatchBounds,
): readonly QueuedCommand[] {
  const nowMs = now();
  const taken: QueuedCommand[] = [];
  const left: QueuedCommand[] = [];
  let seen = 0;
  for (; seen < queue.length && taken.length < commandsMax; seen++) {
    const queued = queue[seen];
    if (!queued) continue;
    if (!walletIds.has(queued.command.request.walletId)) left.push(queued);
    else if (queued.deadlineMs !== undefined && queued.deadlineMs < nowMs) failLate(queued);
    else taken.push(queued);
  }
  queue.splice(0, seen, ...left);
  return taken;
}

function failLate({ reject }: QueuedCommand): void {
  reject(new LedgerError("deadline_exceeded"));
}

/** Completes the commands of committed batches, those that await the disk once their changes are on it. */
export interface Completions {
  complete(batch: Pick<QueueBatch, "queued" | "decisions">): void;
  /** Whether a batch waits for the disk. */
  isWaiting(): boolean;
  /** Resolves when every batch passed to `complete` is completed. */
  settled(): Promise<void>;
}

/**
 * When the sync fails, commands fail as `unavailable`. Repeating a command shows whether it was applied. From
 * then on every command awaits the disk, until a sync succeeds. Without `sync`, commits are on disk at once.
 */
export function createCompletions(
  sync: (() => Promise<void>) | undefined,
  observer?: Pick<BatchObserver, "synced">,
): Completions {
  let last = Promise.resolve();
  let waiting = 0;
  let hasDiskFailed = false;

  async function completeSynced(commands: readonly DecidedCommand[], awaitDisk: () => Promise<void>) {
    waiting += 1;
    const startedAt = platform.monotonicMs();
    try {
      await awaitDisk();
      observer?.synced(platform.monotonicMs() - startedAt);
      hasDiskFailed = false;
      for (const command of commands) completeCommand(command);
    } catch (error) {
      hasDiskFailed = true;
      failAll(
        commands.map(({ queued }) => queued),
        error,
      );
    }
    waiting -= 1;
  }

  return {
    complete({ queued, decisions }) {
      const synced: DecidedCommand[] = [];
      for (let index = 0; index < queued.length; index++) {
        const command = queued[index];
        if (!command) continue;
        const decided = { queued: command, decision: decisions[index] };
        if (sync && (command.awaitsDisk || hasDiskFailed)) synced.push(decided);
        else completeCommand(decided);
      }
      if (sync && synced.length > 0) last = completeSynced(synced, sync);
    },
    isWaiting: () => waiting > 0,
    settled: () => last,
  };
}

interface DecidedCommand {
  readonly queued: QueuedCommand;
  readonly decision: Decision<CommandResult> | undefined;
}

function completeCommand({ queued: { resolve, reject }, decision }: DecidedCommand): void {
  if (decision && "result" in decision) resolve(decision.result);
  else {
    const { declined = "unavailable", shortfall, limit } = decision ?? {};
    reject(new LedgerError(declined, undefined, shortfall, limit));
  }
}

/** Fails commands that were not applied, or whose commit status is unknown. */
export function failAll(queued: readonly QueuedCommand[], cause: unknown): void {
  for (const { reject } of queued) reject(new LedgerError("unavailable", cause));
}
