import {
  type Counter,
  counterKey,
  type Ending,
  type Hold,
  type KeptLimit,
  postingKey,
  type Transfer,
  type Wallet,
} from "../../src/ledger/core/book.ts";
import type { Answer, Command } from "../../src/ledger/core/command.ts";
import { decide } from "../../src/ledger/core/decide.ts";
import type { Outcome } from "../../src/ledger/core/outcome.ts";
import { countersNeeded, needsOf } from "../../src/ledger/core/read-set.ts";
import { createWorkingBook, type WorkingBook } from "../../src/ledger/core/working-book.ts";
import type { SpendLimit } from "../../src/ledger/ledger.ts";

/** One wallet's whole book in memory, as a store would keep it. */
export interface MemoryWallet {
  wallet: Wallet | undefined;
  readonly holds: Map<string, Hold>;
  readonly endings: Map<string, Ending>;
  readonly limits: Map<string, KeptLimit>;
  readonly counters: Map<string, Counter>;
  readonly transfers: Transfer[];
}

export function emptyWallet(): MemoryWallet {
  return {
    wallet: undefined,
    holds: new Map(),
    endings: new Map(),
    limits: new Map(),
    counters: new Map(),
    transfers: [],
  };
}

/** Decides commands as one batch and keeps what they changed. */
export function decideBatch(
  stored: MemoryWallet,
  commands: readonly Command[],
  nowMs: number,
): readonly Outcome<Answer>[] {
  const setLimits = needsOf(commands)
    .values()
    .flatMap(({ limits }) => limits);
  const book = openBook(stored, [...setLimits], nowMs);
  const outcomes = commands.map((command) => {
    const outcome = decide(book, command, nowMs);
    if ("changes" in outcome) book.apply(outcome.changes);
    return outcome;
  });
  keep(stored, book);
  return outcomes;
}

function openBook(stored: MemoryWallet, setLimits: readonly SpendLimit[], nowMs: number): WorkingBook {
  const counters = new Map<string, Counter>();
  for (const key of countersNeeded([...stored.limits.values(), ...setLimits], stored.holds.values(), nowMs)) {
    const zero = { ...key, used: 0n, held: 0n };
    counters.set(counterKey(key), stored.counters.get(counterKey(key)) ?? zero);
  }
  const due = [...stored.holds.values()].filter((hold) => hold.state === "held" && hold.expiresAtMs <= nowMs);
  due.sort((one, other) => one.expiresAtMs - other.expiresAtMs);
  return createWorkingBook({
    wallet: stored.wallet,
    holds: new Map(stored.holds),
    limits: new Map(stored.limits),
    counters,
    postings: new Map(stored.transfers.map((each) => [postingKey(each.kind, each.transferId), each])),
    dueHoldIds: due.map(({ holdId }) => holdId),
  });
}

function keep(stored: MemoryWallet, { unwritten }: WorkingBook): void {
  stored.wallet = unwritten.wallet ?? stored.wallet;
  for (const [id, hold] of [...unwritten.newHolds, ...unwritten.changedHolds]) stored.holds.set(id, hold);
  for (const [id, ending] of unwritten.endings) stored.endings.set(id, ending);
  for (const [key, counter] of unwritten.counters) stored.counters.set(key, counter);
  for (const [id, limit] of unwritten.limits) stored.limits.set(id, limit);
  stored.transfers.push(...unwritten.transfers);
}
