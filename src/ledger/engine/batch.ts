import type { Answer, Command } from "../core/command.ts";
import { decide } from "../core/decide.ts";
import type { Outcome } from "../core/outcome.ts";
import { LedgerError } from "../ledger.ts";
import type { Turn } from "./store.ts";

/** A command that waits, and who waits for it. */
export interface Entry {
  readonly command: Command;
  /** Unix milliseconds after which it is not decided any more. */
  readonly deadlineMs: number | undefined;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: LedgerError) => void;
}

export interface TurnBounds {
  readonly commandsMax: number;
  readonly walletsMax: number;
  readonly now: () => number;
}

/** One turn over the head of the queue. `entries` and `outcomes` fill as the store goes on. */
export interface QueueTurn extends Turn {
  readonly walletIds: ReadonlySet<string>;
  readonly entries: readonly Entry[];
  readonly outcomes: readonly Outcome<Answer>[];
}

export function createTurn(queue: Entry[], bounds: TurnBounds): QueueTurn {
  const walletIds = walletsOf(queue, bounds);
  let entries: readonly Entry[] = [];
  const outcomes: Outcome<Answer>[] = [];
  return {
    walletIds,
    outcomes,
    get entries() {
      return entries;
    },
    collect() {
      entries = takeOf(queue, walletIds, bounds);
      return entries.map(({ command }) => command);
    },
    decide(books, nowMs) {
      for (const { command } of entries) {
        const book = books.get(command.request.walletId);
        if (!book) throw new Error("Cannot decide: a wallet's book was not read");
        const outcome = decide(book, command, nowMs);
        if ("changes" in outcome) book.apply(outcome.changes);
        outcomes.push(outcome);
      }
    },
  };
}

/** The wallets of the first commands. */
function walletsOf(queue: readonly Entry[], { commandsMax, walletsMax }: TurnBounds): ReadonlySet<string> {
  const walletIds = new Set<string>();
  for (let seen = 0; seen < queue.length && seen < commandsMax && walletIds.size < walletsMax; seen++) {
    const entry = queue[seen];
    if (entry) walletIds.add(entry.command.request.walletId);
  }
  return walletIds;
}

/**
 * Takes the first commands of the locked wallets; those of other wallets keep their places. Those whose
 * deadline has passed are refused instead.
 */
function takeOf(
  queue: Entry[],
  walletIds: ReadonlySet<string>,
  { commandsMax, now }: TurnBounds,
): readonly Entry[] {
  const nowMs = now();
  const taken: Entry[] = [];
  const left: Entry[] = [];
  let seen = 0;
  for (; seen < queue.length && taken.length < commandsMax; seen++) {
    const entry = queue[seen];
    if (!entry) continue;
    if (!walletIds.has(entry.command.request.walletId)) left.push(entry);
    else if (entry.deadlineMs !== undefined && entry.deadlineMs < nowMs) refuseLate(entry);
    else taken.push(entry);
  }
  queue.splice(0, seen, ...left);
  return taken;
}

function refuseLate({ reject }: Entry): void {
  reject(new LedgerError("deadline_exceeded"));
}
