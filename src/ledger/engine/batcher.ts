import type { AnswerOf, Command, CommandKind, RequestOf } from "../core/command.ts";
import { type HoldOptions, LedgerError } from "../ledger.ts";
import { createPatience } from "./backoff.ts";
import type { Entry } from "./batch.ts";
import { commitNext, hasWork, type Work } from "./commit.ts";
import { createAnswers } from "./completions.ts";
import { createLoop } from "./loop.ts";
import type { Store } from "./store.ts";

/** Takes commands one by one and commits them together. */
export interface Batcher {
  /** Resolves when the command is durable. Rejects with LedgerError. */
  submit<Kind extends CommandKind>(
    kind: Kind,
    request: RequestOf<Kind>,
    options?: HoldOptions,
  ): Promise<AnswerOf<Kind>>;
  /** Takes no more commands; resolves when all that were taken are answered. */
  close(): Promise<void>;
}

export interface BatchOptions {
  /** Commands of one transaction at most; bounds how long it holds the lock. */
  readonly batchMax?: number;
  /** Wallets that one transaction locks at most; without it as many as its commands name. */
  readonly walletsMax?: number | undefined;
  /** Commands that may wait; above it `queue_full`. */
  readonly queueMax?: number;
  /** How long commands wait for a database that is locked or away before they are refused as `unavailable`. */
  readonly busyMaxMs?: number;
  /** The clock that deadlines of commands are read by. */
  readonly now?: () => number;
}

/**
 * The batch loop: a command waits for the end of the event loop's turn, so that everything the turn
 * brought is decided in order and committed once. One transaction runs at a time; see commit.ts for what
 * happens when it fails. While a database stays away, commands are refused at once.
 */
export function createBatcher(store: Store, options: BatchOptions = {}): Batcher {
  const {
    batchMax = 256,
    walletsMax = batchMax,
    queueMax = 20_000,
    busyMaxMs = 2_000,
    now = Date.now,
  } = options;
  const queue: Entry[] = [];
  const work: Work = {
    store,
    queue,
    answers: createAnswers(store.sync),
    patience: createPatience(busyMaxMs),
    bounds: { commandsMax: batchMax, walletsMax, now },
    sizeMax: batchMax,
    doubtful: undefined,
    isAway: false,
    isClosing: false,
  };
  const loop = createLoop({ hasWork: () => hasWork(work), step: () => commitNext(work) });

  return {
    submit(kind, request, { deadlineMs } = {}) {
      if (work.isClosing || work.isAway) return Promise.reject(new LedgerError("unavailable"));
      if (queue.length >= queueMax) return Promise.reject(new LedgerError("queue_full"));
      return new Promise((resolve, reject) => {
        // Safe because kind and request came as a pair, and decide answers a kind with its own answer.
        const command = { kind, request } as Command;
        queue.push({ command, deadlineMs, resolve: resolve as Entry["resolve"], reject });
        loop.wake();
      });
    },
    async close() {
      work.isClosing = true;
      await loop.atRest();
      await work.answers.allGiven();
    },
  };
}
