import type { Answer, Command } from "./command.ts";
import { decide } from "./decide.ts";
import type { LedgerError } from "./ledger.ts";
import type { Outcome } from "./rules/outcome.ts";
import type { Turn } from "./store.ts";

/** A command that waits, and who waits for it. */
export interface Entry {
  readonly command: Command;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: LedgerError) => void;
}

/** One turn over the head of the queue. `entries` and `outcomes` fill as the store goes on. */
export function createTurn(queue: Entry[], sizeMax: number) {
  const walletIds = new Set(queue.slice(0, sizeMax).map(({ command }) => command.request.walletId));
  let entries: readonly Entry[] = [];
  const outcomes: Outcome<Answer>[] = [];
  return {
    walletIds,
    outcomes,
    get entries() {
      return entries;
    },
    collect() {
      entries = takeOf(queue, walletIds, sizeMax);
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
  } satisfies Turn & Record<string, unknown>;
}

/** Takes the first commands of the locked wallets; those of other wallets keep their places. */
function takeOf(queue: Entry[], walletIds: ReadonlySet<string>, sizeMax: number): readonly Entry[] {
  const taken: Entry[] = [];
  const left: Entry[] = [];
  let seen = 0;
  for (; seen < queue.length && taken.length < sizeMax; seen++) {
    const entry = queue[seen];
    if (entry) (walletIds.has(entry.command.request.walletId) ? taken : left).push(entry);
  }
  queue.splice(0, seen, ...left);
  return taken;
}
