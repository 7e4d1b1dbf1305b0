import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { counterKey } from "../../src/ledger/core/book.ts";
import type { Command } from "../../src/ledger/core/command.ts";
import { commands, steps } from "./commands.ts";
import { decideBatch, emptyWallet, type MemoryWallet } from "./memory-wallet.ts";
import { createOracle } from "./oracle.ts";
import { NOON_MS } from "./samples.ts";

/** All rows of a wallet, for comparison. Maps are sorted. */
function snapshot(stored: MemoryWallet): unknown {
  const sorted = <Value>(map: ReadonlyMap<string, Value>) =>
    [...map].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return structuredClone({
    wallet: stored.wallet,
    transfers: stored.transfers,
    holds: sorted(stored.holds),
    resolutions: sorted(stored.resolutions),
    limits: sorted(stored.limits),
    counters: sorted(stored.counters),
  });
}

function expectInvariants({ wallet, holds, transfers, counters, openings }: MemoryWallet): void {
  const open = [...holds.values()].filter(({ state }) => state === "held");
  expect(wallet?.held ?? 0n).toBe(open.reduce((total, { granted }) => total + granted, 0n));
  let posted = 0n;
  for (const [index, transfer] of transfers.entries()) {
    expect(transfer.seq).toBe(index + 1);
    posted += transfer.creditAccount === 1 ? transfer.amount : -transfer.amount;
    expect(transfer.postedAfter).toBe(posted);
    expect(transfer.amount > 0n).toBe(true);
  }
  expect(wallet?.posted ?? 0n).toBe(posted);
  expect(wallet?.lastSeq ?? 0).toBe(transfers.length);
  const once = transfers.map(({ kind, transferId }) => `${kind} ${transferId}`);
  expect(new Set(once).size).toBe(once.length);
  for (const [key, counter] of counters) {
    const listed = [...holds.values()].filter(({ limits }) =>
      limits.some((each) => counterKey(each) === key),
    );
    const opened = openings.filter((each) => counterKey(each) === key);
    const charged = listed.reduce((total, { captured, refunded }) => total + captured - refunded, 0n);
    expect(counter.used).toBe(opened.reduce((total, { used }) => total + used, charged));
    expect(counter.used >= 0n && counter.held >= 0n).toBe(true);
  }
}

function countsOf({ counters }: MemoryWallet): Record<string, { used: bigint; held: bigint }> {
  return Object.fromEntries([...counters].map(([key, { used, held }]) => [key, { used, held }]));
}

describe("for random commands on a wallet", () => {
  test("the rules agree with an oracle that recomputes every sum from the start", () => {
    fc.assert(
      fc.property(steps, (given) => {
        const stored = emptyWallet();
        const oracle = createOracle();
        let nowMs = NOON_MS;
        for (const step of given) {
          if ("passesMs" in step) {
            nowMs += step.passesMs;
            continue;
          }
          const before = snapshot(stored);
          const [decision] = decideBatch(stored, [step.command], nowMs);
          const expected = oracle.decide(step.command, nowMs);
          const got =
            decision && "result" in decision
              ? { result: decision.result ?? {} }
              : {
                  declined: decision?.declined,
                  ...(decision?.shortfall && { shortfall: decision.shortfall }),
                  ...(decision?.limit && { limit: decision.limit }),
                };
          expect(got).toEqual(expected as typeof got);
          if ("declined" in expected) expect(snapshot(stored)).toEqual(before);
          expectInvariants(stored);
          for (const [holdId, { note }] of oracle.holds) {
            expect(stored.resolutions.get(holdId)?.metadata).toBe(note && JSON.stringify(note));
          }
          const counted = oracle.counted().map((count) => {
            const { limit, subject, isWindow, from } = count;
            const ofCalendar = subject === undefined ? limit : `${limit}\n${subject}`;
            const counterId = isWindow ? `${limit}\n${subject ?? ""}\n` : ofCalendar;
            const key = counterKey({ counterId, periodStartMs: from });
            return [key, { used: oracle.used(count), held: oracle.heldBy(count) }] as const;
          });
          expect(countsOf(stored)).toEqual(Object.fromEntries(counted));
        }
      }),
      { numRuns: 400 },
    );
  });

  test("a command repeated at once has the first result and changes nothing", () => {
    fc.assert(
      fc.property(fc.array(commands, { maxLength: 60, size: "max" }), (given) => {
        const stored = emptyWallet();
        for (const command of [{ kind: "create_wallet", request: { walletId: "acme" } } as const, ...given]) {
          const [first] = decideBatch(stored, [command], NOON_MS);
          const after = snapshot(stored);
          const [second] = decideBatch(stored, [command], NOON_MS);
          expect(snapshot(stored)).toEqual(after);
          const withoutReplayed = (decision: typeof first) =>
            decision && "result" in decision && decision.result !== "unread"
              ? { ...decision.result, replayed: undefined }
              : decision;
          expect(withoutReplayed(second)).toEqual(withoutReplayed(first));
        }
      }),
      { numRuns: 150 },
    );
  });

  test("commands decided in one batch equal commands decided one by one", () => {
    const batches = fc.array(fc.array(commands, { maxLength: 30, size: "max" }), { maxLength: 6 });
    fc.assert(
      fc.property(batches, fc.array(fc.constantFrom(0, 10, 60_000)), (given, pauses) => {
        const together = emptyWallet();
        const apart = emptyWallet();
        let nowMs = NOON_MS;
        const create: Command = { kind: "create_wallet", request: { walletId: "acme" } };
        const fund: Command = {
          kind: "top_up",
          request: { walletId: "acme", topUpId: "t0", amount: 100n },
        };
        for (const [index, batch] of [[create, fund], ...given].entries()) {
          const one = decideBatch(together, batch, nowMs);
          const other = batch.flatMap((command) => decideBatch(apart, [command], nowMs));
          expect(one.map(withoutChanges)).toEqual(other.map(withoutChanges));
          expect(snapshot(together)).toEqual(snapshot(apart));
          nowMs += pauses[index] ?? 0;
        }
      }),
      { numRuns: 200 },
    );
  });
});

function withoutChanges(decision: object): object {
  return "changes" in decision ? { ...decision, changes: undefined } : decision;
}
