import { platform } from "../../platform.ts";
import type { Command, CommandKind, RequestOf, ResultOf } from "../core/command.ts";
import { type HoldOptions, LedgerError } from "../ledger.ts";
import { createCompletions, type QueuedCommand } from "./batch.ts";
import { type CommitState, commitNext, createBackoff, hasWork } from "./commit.ts";
import type { BatchObserver, Store } from "./store.ts";

/** Takes commands one by one and commits them in batches. */
export interface Batcher {
  /** Resolves when the command is durable, or committed without `awaitsDisk`. Rejects with LedgerError. */
  submit<Kind extends CommandKind>(
    kind: Kind,
    request: RequestOf<Kind>,
    options?: HoldOptions,
  ): Promise<ResultOf<Kind>>;
  /** Takes no more commands. Resolves when every accepted command is completed. */
  close(): Promise<void>;
}

export interface BatchOptions {
  /** The most commands of one transaction, which bounds how long it holds the lock. */
  readonly batchMax?: number;
  /** The most wallets that one transaction locks. Default: `batchMax`. */
  readonly walletsMax?: number | undefined;
  /** The most commands that may wait; further ones fail with `queue_full`. */
  readonly queueMax?: number;
  /** Milliseconds that commands wait for a locked or absent database before they fail as `unavailable`. */
  readonly busyMaxMs?: number;
  /** The clock that deadlines of commands are compared with. */
  readonly now?: () => number;
  readonly observer?: BatchObserver | undefined;
}

/**
 * The batch loop. Commands wait for the end of the event-loop turn, and while an earlier batch is synced to
 * disk; all commands that waited are decided in order and committed once. One transaction runs at a time.
 * commit.ts handles failed transactions. While the database stays away, commands fail at once.
 */
export function createBatcher(store: Store, options: BatchOptions = {}): Batcher {
  const {
    batchMax = 256,
    walletsMax = batchMax,
    queueMax = 20_000,
    busyMaxMs = 2_000,
    now = platform.now,
    observer,
  } = options;
  const queue: QueuedCommand[] = [];
  const state: CommitState = {
    store,
    queue,
    observer,
    completions: createCompletions(store.sync, observer),
    backoff: createBackoff(busyMaxMs),
    bounds: { commandsMax: batchMax, walletsMax, now },
    commandsMax: batchMax,
    inDoubt: undefined,
    isAway: false,
    isClosing: false,
  };
  const loop = createLoop({ hasWork: () => hasWork(state), step: () => commitNext(state) });

  return {
    submit(kind, request, { deadlineMs, awaitsDisk = true } = {}) {
      if (state.isClosing || state.isAway) return Promise.reject(new LedgerError("unavailable"));
      if (queue.length >= queueMax) return Promise.reject(new LedgerError("queue_full"));
      return new Promise((resolve, reject) => {
        // Safe because kind and request came as a pair, and decide returns the result of that kind.
        const command = { kind, request } as Command;
        const settle = { resolve: resolve as QueuedCommand["resolve"], reject };
        queue.push({ command, deadlineMs, awaitsDisk, ...settle });
        loop.wake();
      });
    },
    async close() {
      state.isClosing = true;
      await loop.idle();
      await state.completions.settled();
    },
  };
}

/** Runs one step after the other while there is work. */
interface Loop {
  /** Starts the loop if there is work. */
  wake(): void;
  /** Resolves when there is no work left. */
  idle(): Promise<void>;
}

interface LoopParts {
  hasWork(): boolean;
  /** Returns the milliseconds to wait before the next step; 0 for the next event-loop turn. Never rejects. */
  step(): Promise<number>;
}

/** Each step runs at the end of an event-loop turn, so that it sees every command of that turn. */
function createLoop({ hasWork, step }: LoopParts): Loop {
  let isRunning = false;
  let idle: PromiseWithResolvers<void> | undefined;

  const run = async () => {
    const pauseMs = await step();
    if (!hasWork()) {
      isRunning = false;
      idle?.resolve();
    } else if (pauseMs > 0) platform.setTimeout(run, pauseMs);
    else platform.setImmediate(run);
  };

  return {
    wake() {
      if (isRunning || !hasWork()) return;
      isRunning = true;
      platform.setImmediate(run);
    },
    idle() {
      if (!isRunning) return Promise.resolve();
      idle ??= Promise.withResolvers();
      return idle.promise;
    },
  };
}
