import { firstIdOf } from "../../src/domain/id-time.ts";
import {
  type Counter,
  Counters,
  counterKey,
  type Hold,
  type Opening,
  type PeriodSpend,
  postingKey,
  type Resolution,
  type StoredLimit,
  spendKey,
  type Transfer,
  type Wallet,
} from "../../src/ledger/core/book.ts";
import type { Command, CommandResult, Decision } from "../../src/ledger/core/command.ts";
import { Credits } from "../../src/ledger/core/credits.ts";
import { decide } from "../../src/ledger/core/decide.ts";
import { countersOf, type ReadSet, readSetsOf, unreadWindowsOf } from "../../src/ledger/core/read-set.ts";
import { spentFor } from "../../src/ledger/core/spender.ts";
import { countedPeriodOf } from "../../src/ledger/core/wallet.ts";
import { startsAround } from "../../src/ledger/core/window.ts";
import { createWorkingBook, type WorkingBook } from "../../src/ledger/core/working-book.ts";
import type { Credit, SpendLimit } from "../../src/ledger/records.ts";

/** One wallet's whole book in memory, as a store would store it. */
export interface MemoryWallet {
  wallet: Wallet | undefined;
  readonly holds: Map<string, Hold>;
  readonly resolutions: Map<string, Resolution>;
  readonly limits: Map<string, StoredLimit>;
  readonly counters: Map<string, Counter>;
  readonly openings: Opening[];
  readonly transfers: Transfer[];
  readonly credits: Map<number, Credit>;
}

export function emptyWallet(): MemoryWallet {
  return {
    wallet: undefined,
    holds: new Map(),
    resolutions: new Map(),
    limits: new Map(),
    counters: new Map(),
    openings: [],
    transfers: [],
    credits: new Map(),
  };
}

/** Decides commands as one batch and stores their changes. */
export function decideBatch(
  stored: MemoryWallet,
  commands: readonly Command[],
  nowMs: number,
): readonly Decision<CommandResult>[] {
  const readSets = [...readSetsOf(commands).values()];
  const spenders = readSets.flatMap((readSet) => readSet.spenders);
  const limits = readSets.flatMap((readSet) => readSet.limits);
  const book = openBook(stored, { spenders, limits }, nowMs);
  const decisions = commands.map((command) => {
    const decision = decide(book, command, nowMs);
    if ("changes" in decision) book.apply(decision.changes);
    return decision;
  });
  store(stored, book);
  return decisions;
}

function openBook(
  stored: MemoryWallet,
  reads: Pick<ReadSet, "spenders" | "limits">,
  nowMs: number,
): WorkingBook {
  const due = [...stored.holds.values()].filter((hold) => hold.state === "held" && hold.expiresAtMs <= nowMs);
  due.sort((one, other) => one.expiresAtMs - other.expiresAtMs);
  const counted = reads.limits.filter((limit) => countedPeriodOf(limit, nowMs) !== undefined);
  const book = createWorkingBook({
    wallet: stored.wallet,
    holds: new Map(stored.holds),
    limits: new Map(stored.limits),
    counters: new Counters(),
    windowStarts: new Map(),
    postings: new Map(stored.transfers.map((each) => [postingKey(each.kind, each.transferId), each])),
    spends: new Map(counted.map((limit) => spendOf(stored, limit, nowMs))),
    credits: new Credits(stored.credits.values()),
    dueHoldIds: due.map(({ holdId }) => holdId),
  });
  for (const counterId of unreadWindowsOf(book, reads, nowMs)) {
    const counters = [...stored.counters.values()].filter((counter) => counter.counterId === counterId);
    const starts = counters.map(({ periodStartMs }) => periodStartMs);
    book.windowStarts.set(counterId, startsAround(starts, nowMs));
  }
  for (const key of countersOf(book, reads, nowMs)) {
    const zero = { ...key, used: 0n, held: 0n };
    book.counters.set(stored.counters.get(counterKey(key)) ?? zero);
  }
  return book;
}

/** Sums up every receipt of a limit's current period. */
function spendOf({ holds }: MemoryWallet, limit: SpendLimit, nowMs: number): [string, PeriodSpend] {
  const { limitId } = limit;
  const { periodStartMs = 0 } = countedPeriodOf(limit, nowMs) ?? {};
  const firstId = firstIdOf(Math.max(0, periodStartMs));
  const counted = [...holds.values()].filter((hold) => hold.holdId >= firstId && spentFor(limit, hold));
  const amount = counted.reduce((sum, { captured, refunded }) => sum + captured - refunded, 0n);
  return [spendKey({ counterId: limitId, periodStartMs }, limit), { bound: limit, firstId, amount }];
}

function store(stored: MemoryWallet, { writeSet }: WorkingBook): void {
  stored.wallet = writeSet.wallet ?? stored.wallet;
  for (const [id, hold] of [...writeSet.boundHolds, ...writeSet.newHolds, ...writeSet.changedHolds])
    stored.holds.set(id, hold);
  for (const [id, resolution] of writeSet.resolutions) stored.resolutions.set(id, resolution);
  for (const counter of writeSet.counters) stored.counters.set(counterKey(counter), counter);
  for (const [id, limit] of writeSet.limits) stored.limits.set(id, limit);
  stored.openings.push(...writeSet.openings);
  stored.transfers.push(...writeSet.transfers);
  for (const [seq, credit] of writeSet.credits) stored.credits.set(seq, credit);
}
