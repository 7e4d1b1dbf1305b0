import { describe, expect, test } from "bun:test";
import type { Ledger, Settlement } from "../../../src/ledger/ledger.ts";
import { FACTS, holdIdOf } from "../samples.ts";
import type { Books } from "./env.ts";

/** Many callers at once, through one ledger and through two on the same books. */
export function describeConcurrency(books: Books): void {
  const bothLedgers = async () => [books.ledger, await books.openAnother()] as const;
  const ended = () => ({ walletId: books.walletId, holdId: holdIdOf("h1"), facts: FACTS });
  const effectOf = ({ state, captured, balances }: Settlement) =>
    `${state} ${captured} ${balances.posted} ${balances.held} ${balances.available}`;

  describe("many callers at once", () => {
    test("a thousand holds where there is room for ten: exactly ten are taken", async () => {
      const ledgers = await bothLedgers();
      const holds = Array.from({ length: 1000 }, (_, i) =>
        (ledgers[i % 2] as Ledger).hold(books.holdRequest(`p${i}`, 10n)),
      );
      const results = await Promise.allSettled(holds);
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
      const refusals = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
      expect(new Set(refusals.map(({ refusal }) => refusal))).toEqual(new Set(["balance_on_hold"]));
      expect(await books.balances()).toEqual({ posted: 100n, held: 100n, available: 0n });
    });

    test("a thousand holds under a limit with room for ten: exactly ten are taken", async () => {
      await books.topUp("more", 100_000n);
      await books.limit("l1", 100n, { keyId: undefined, period: "day" });
      const ledgers = await bothLedgers();
      const holds = Array.from({ length: 1000 }, (_, i) =>
        (ledgers[i % 2] as Ledger).hold(books.holdRequest(`p${i}`, 10n, { keyId: `k${i % 5}` })),
      );
      const results = await Promise.allSettled(holds);
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
      expect(await books.limits()).toMatchObject([{ used: 0n, held: 100n }]);
    });

    test("a thousand holds that take what they get: together all there is", async () => {
      const holds = Array.from({ length: 1000 }, (_, i) => books.hold(`p${i}`, 7n, { minimum: 1n }));
      const results = await Promise.allSettled(holds);
      const granted = results.flatMap((result) =>
        result.status === "fulfilled" ? [result.value.granted] : [],
      );
      expect(granted.reduce((sum, each) => sum + each, 0n)).toBe(100n);
      expect(granted).toHaveLength(15);
    });

    test("64 settlements of one hold: one effect and 64 equal answers", async () => {
      await books.hold("h1", 10n);
      const ledgers = await bothLedgers();
      const settle = (i: number) => (ledgers[i % 2] as Ledger).settle({ ...ended(), amount: 9n });
      const settled = await Promise.all(Array.from({ length: 64 }, (_, i) => settle(i)));
      expect(settled.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect(new Set(settled.map(effectOf))).toEqual(new Set(["settled 9 91 0 91"]));
    });

    test("64 settlements of one hold for different amounts: the first one's, and 63 conflicts", async () => {
      await books.hold("h1", 10n);
      const settles = Array.from({ length: 64 }, (_, i) => books.settle("h1", BigInt(i)));
      const results = await Promise.allSettled(settles);
      const taken = results.flatMap((result) =>
        result.status === "fulfilled" ? [result.value.captured] : [],
      );
      expect(taken).toHaveLength(1);
      expect(await books.receipt("h1")).toMatchObject({ captured: taken[0] });
    });

    test("64 times the same hold: one is taken, and all are told the same", async () => {
      const ledgers = await bothLedgers();
      const request = books.holdRequest("h1", 150n, { minimum: 1n });
      const holds = Array.from({ length: 64 }, (_, i) => (ledgers[i % 2] as Ledger).hold(request));
      const taken = await Promise.all(holds);
      expect(new Set(taken.map(({ granted }) => granted))).toEqual(new Set([100n]));
      expect(taken.filter(({ replayed }) => !replayed)).toHaveLength(1);
    });

    test("64 times the same top-up, charge or refund: each has one effect", async () => {
      const ledgers = await bothLedgers();
      const { walletId } = books;
      const of = (i: number) => ledgers[i % 2] as Ledger;
      const times = Array.from({ length: 64 }, (_, i) => i);
      const top = { walletId, topUpId: "t1", amount: 11n };
      const topped = await Promise.all(times.map((i) => of(i).topUp(top)));
      const charged = await Promise.all(times.map((i) => of(i).charge(books.chargeRequest("c1", 5n))));
      const holdId = charged[0]?.receiptId ?? "";
      const refund = { walletId, refundId: "r1", holdId, amount: 3n };
      const refunded = await Promise.all(times.map((i) => of(i).refund(refund)));
      for (const answers of [topped, charged, refunded]) {
        expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
      }
      expect(new Set(charged.map(({ receiptId }) => receiptId)).size).toBe(1);
      expect(await books.balances()).toMatchObject({ posted: 109n });
    });

    test("a settlement and a release of one hold: exactly one of them wins, every time", async () => {
      const ledgers = await bothLedgers();
      await books.topUp("more", 1_000n);
      const races = Array.from({ length: 40 }, async (_, i) => {
        const holdId = holdIdOf(`race${i}`);
        await books.hold(`race${i}`, 10n);
        const [settled, released] = await Promise.allSettled([
          (ledgers[i % 2] as Ledger).settle({ ...ended(), holdId, amount: 9n }),
          (ledgers[(i + 1) % 2] as Ledger).release({ ...ended(), holdId }),
        ]);
        expect([settled.status, released.status].sort()).toEqual(["fulfilled", "rejected"]);
        const receipt = await books.ledger.receipt(books.walletId, holdId);
        expect(receipt?.state).toBe(settled.status === "fulfilled" ? "settled" : "released");
      });
      await Promise.all(races);
    });

    test("a settlement against two sweeps: the cost is booked once, whoever is first", async () => {
      const another = await books.openAnother();
      for (let i = 0; i < 8; i++) await books.hold(`h${i}`, 10n);
      for (let i = 0; i < 8; i++) await books.extend(`h${i}`, 4n);
      books.clock.nowMs += 60_000;
      const settles = Array.from({ length: 8 }, (_, i) =>
        (i % 2 ? another : books.ledger).settle({ ...ended(), holdId: holdIdOf(`h${i}`), amount: 9n }),
      );
      await Promise.all([books.sweep(), ...settles, books.sweepElsewhere()]);
      expect(await books.balances()).toEqual({ posted: 28n, held: 0n, available: 28n });
      const { items } = await books.ledger.receipts({ walletId: books.walletId }, { size: 9 });
      expect(items.map(({ state, captured }) => [state, captured])).toEqual(Array(8).fill(["settled", 9n]));
    });

    test("a release against two sweeps: nothing is left on hold, and at most what was accrued is booked", async () => {
      const another = await books.openAnother();
      await books.hold("h1", 10n);
      await books.extend("h1", 4n);
      books.clock.nowMs += 60_000;
      const released = another.release(ended());
      await Promise.all([books.sweep(), released, books.sweepElsewhere()]);
      const posted = (await released).state === "released" ? 100n : 96n;
      expect(await books.balances()).toEqual({ posted, held: 0n, available: posted });
    });

    test("two ledgers that create the same wallets create each once", async () => {
      const another = await books.openAnother();
      const ids = Array.from({ length: 20 }, (_, i) => `${books.walletId}/${i}`);
      const both = [...ids, ...ids.toReversed()];
      await Promise.all(both.map((id, i) => (i % 2 ? another : books.ledger).createWallet(id)));
      await Promise.all(
        both.map((walletId, i) =>
          (i % 2 ? another : books.ledger).topUp({ walletId, topUpId: "t1", amount: 5n }),
        ),
      );
      for (const id of ids) expect(await another.balances(id)).toMatchObject({ posted: 5n });
    });

    test("what one ledger was told, another knows at once", async () => {
      const another = await books.openAnother();
      await books.hold("h1", 30n);
      expect(await another.balances(books.walletId)).toMatchObject({ held: 30n });
      expect(await another.hold(books.holdRequest("h1", 30n))).toMatchObject({ replayed: true });
      await another.settle({ ...ended(), amount: 31n });
      expect(await books.receipt("h1")).toMatchObject({ captured: 31n });
      expect((await books.ledger.transfers(books.walletId, { size: 9 })).items).toHaveLength(2);
      const usage = await another.usage({ walletId: books.walletId, groupBy: [] });
      expect(usage).toMatchObject([{ requests: 1, captured: 31n }]);
    });

    test("commands of one caller have their effect in the order they were given", async () => {
      const said = [
        books.topUp("t1", 1n),
        books.hold("h1", 101n),
        books.settle("h1", 51n),
        books.hold("h2", 50n),
        books.release("h2"),
        books.hold("h3", 50n),
      ];
      await Promise.all(said);
      expect(await books.balances()).toEqual({ posted: 50n, held: 50n, available: 0n });
    });

    test("a thousand commands that each say as much as they may", async () => {
      const metadata = { text: "x".repeat(4_000) };
      const names = Array.from({ length: 1_000 }, (_, i) => `h${i}`);
      await Promise.all(names.map((name) => books.hold(name, 0n, { metadata })));
      const settled = await Promise.all(names.map((name) => books.settle(name, 0n, FACTS, metadata)));
      expect(settled.every(({ state, replayed }) => state === "settled" && !replayed)).toBe(true);
    });
  });
}
