import { createAnswers, refuse } from "./answers.ts";
import type { AnswerOf, Command, CommandKind, RequestOf } from "./command.ts";
import { LedgerError } from "./ledger.ts";
import { type Store, StoreError, type StoreFault } from "./store.ts";
import { createTurn, type Entry } from "./turn.ts";

/** Takes commands one by one and commits them together. */
export interface Batcher {
  /** Resolves when the command is durable. Rejects with LedgerError. */
  submit<Kind extends CommandKind>(kind: Kind, request: RequestOf<Kind>): Promise<AnswerOf<Kind>>;
  /** Takes no more commands; resolves when all that were taken are answered. */
  close(): Promise<void>;
}

export interface BatchOptions {
  /** Commands of one transaction at most; bounds how long it holds the lock. */
  readonly batchMax?: number;
  /** Commands that may wait; above it `queue_full`. */
  readonly queueMax?: number;
  /** How long commands wait for a locked database before they are refused as `unavailable`. */
  readonly busyMaxMs?: number;
}

const PAUSE_MS = 2;

/**
 * The batch loop: a command waits for the end of the event loop's turn, so that everything the turn
 * brought is decided in order and committed once. One transaction runs at a time. A transaction that
 * the database rejects is tried again by halves until the one command it cannot keep is alone.
 */
export function createBatcher(store: Store, options: BatchOptions = {}): Batcher {
  const { batchMax = 256, queueMax = 20_000, busyMaxMs = 2_000 } = options;
  const queue: Entry[] = [];
  let sizeMax = batchMax;
  let busyMs = 0;
  let isRunning = false;
  const answers = createAnswers(store.sync);
  let closing: PromiseWithResolvers<void> | undefined;

  const run = () => {
    isRunning = true;
    setImmediate(runOnce);
  };

  const runOnce = async () => {
    const pauseMs = await commitNext();
    isRunning = false;
    if (queue.length === 0) closing?.resolve();
    else if (pauseMs === 0) run();
    else {
      isRunning = true;
      setTimeout(runOnce, pauseMs);
    }
  };

  /** Commits what waits and answers it. Returns how long to wait before the next try. */
  const commitNext = async () => {
    const turn = createTurn(queue, sizeMax);
    try {
      await store.transact(turn.walletIds, turn);
    } catch (error) {
      return recover(turn.entries, error);
    }
    sizeMax = Math.min(batchMax, sizeMax * 2);
    busyMs = 0;
    answers.give(turn.entries, turn.outcomes);
    return 0;
  };

  const recover = (entries: readonly Entry[], error: unknown) => {
    const fault = faultOf(error, entries);
    if (fault === "rejected" && entries.length > 1) {
      queue.unshift(...entries);
      sizeMax = Math.ceil(entries.length / 2);
      return 0;
    }
    if (fault === "busy" && busyMs < busyMaxMs) {
      queue.unshift(...entries);
      // Jitter: processes that collided once would collide again.
      const pauseMs = PAUSE_MS * (0.5 + Math.random());
      busyMs += pauseMs;
      return pauseMs;
    }
    const refused = fault === "rejected" ? entries : [...entries, ...queue.splice(0)];
    refuse(refused, error);
    sizeMax = batchMax;
    busyMs = 0;
    return 0;
  };

  return {
    submit(kind, request) {
      if (closing) return Promise.reject(new LedgerError("unavailable"));
      if (queue.length >= queueMax) return Promise.reject(new LedgerError("queue_full"));
      return new Promise((resolve, reject) => {
        // Safe because kind and request came as a pair, and decide answers a kind with its own answer.
        queue.push({ command: { kind, request } as Command, resolve: resolve as Entry["resolve"], reject });
        if (!isRunning) run();
      });
    },
    close() {
      closing ??= Promise.withResolvers();
      if (!isRunning) closing.resolve();
      return closing.promise.then(answers.allGiven);
    },
  };
}

/** A transaction that failed before it took a command cannot be blamed on one. */
function faultOf(error: unknown, entries: readonly Entry[]): StoreFault {
  const fault = error instanceof StoreError ? error.fault : "rejected";
  return fault === "rejected" && entries.length === 0 ? "unavailable" : fault;
}
