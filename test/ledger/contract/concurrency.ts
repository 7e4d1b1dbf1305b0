import { describe, expect, test } from "bun:test";
import type { Ledger, Settlement } from "../../../src/ledger/ledger.ts";
import { FACTS, holdIdOf } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";

/** Many concurrent callers, through one ledger and through two on the same database. */
export function describeConcurrency(env: LedgerEnv): void {
  const bothLedgers = async () => [env.ledger, await env.openAnother()] as const;
  const ended = () => ({ walletId: env.walletId, holdId: holdIdOf("h1"), facts: FACTS });
  const effectOf = ({ state, captured, balances }: Settlement) =>
    `${state} ${captured} ${balances.posted} ${balances.held} ${balances.available}`;

  describe("concurrently", () => {
    test("of a thousand holds with headroom for ten, exactly ten are taken", async () => {
      const ledgers = await bothLedgers();
      const holds = Array.from({ length: 1000 }, (_, i) =>
        (ledgers[i % 2] as Ledger).hold(env.holdRequest(`p${i}`, 10n)),
      );
      const results = await Promise.allSettled(holds);
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
      const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
      expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(["balance_on_hold"]));
      expect(await env.balances()).toEqual({ posted: 100n, held: 100n, available: 0n });
    });

    test("of a thousand holds under a limit for ten, exactly ten are taken", async () => {
      await env.topUp("more", 100_000n);
      await env.limit("l1", 100n, { keyId: undefined, period: "day" });
      const ledgers = await bothLedgers();
      const holds = Array.from({ length: 1000 }, (_, i) =>
        (ledgers[i % 2] as Ledger).hold(env.holdRequest(`p${i}`, 10n, { keyId: `k${i % 5}` })),
      );
      const results = await Promise.allSettled(holds);
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
      expect(await env.limits()).toMatchObject([{ used: 0n, held: 100n }]);
    });

    test("a thousand holds with minimum 0 together take exactly the balance", async () => {
      const holds = Array.from({ length: 1000 }, (_, i) => env.hold(`p${i}`, 7n, { minimum: 1n }));
      const results = await Promise.allSettled(holds);
      const granted = results.flatMap((result) =>
        result.status === "fulfilled" ? [result.value.granted] : [],
      );
      expect(granted.reduce((sum, each) => sum + each, 0n)).toBe(100n);
      expect(granted).toHaveLength(15);
    });

    test("64 settlements of one hold have one effect and equal results", async () => {
      await env.hold("h1", 10n);
      const ledgers = await bothLedgers();
      const settle = (i: number) => (ledgers[i % 2] as Ledger).settle({ ...ended(), amount: 9n });
      const settled = await Promise.all(Array.from({ length: 64 }, (_, i) => settle(i)));
      expect(settled.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect(new Set(settled.map(effectOf))).toEqual(new Set(["settled 9 91 0 91"]));
    });

    test("64 settlements of one hold with different amounts book one and conflict 63 times", async () => {
      await env.hold("h1", 10n);
      const settles = Array.from({ length: 64 }, (_, i) => env.settle("h1", BigInt(i)));
      const results = await Promise.allSettled(settles);
      const taken = results.flatMap((result) =>
        result.status === "fulfilled" ? [result.value.captured] : [],
      );
      expect(taken).toHaveLength(1);
      expect(await env.receipt("h1")).toMatchObject({ captured: taken[0] });
    });

    test("64 equal holds have one effect and equal results", async () => {
      const ledgers = await bothLedgers();
      const request = env.holdRequest("h1", 150n, { minimum: 1n });
      const holds = Array.from({ length: 64 }, (_, i) => (ledgers[i % 2] as Ledger).hold(request));
      const taken = await Promise.all(holds);
      expect(new Set(taken.map(({ granted }) => granted))).toEqual(new Set([100n]));
      expect(taken.filter(({ replayed }) => !replayed)).toHaveLength(1);
    });

    test("64 equal top-ups, charges or refunds have one effect", async () => {
      const ledgers = await bothLedgers();
      const { walletId } = env;
      const of = (i: number) => ledgers[i % 2] as Ledger;
      const times = Array.from({ length: 64 }, (_, i) => i);
      const top = { walletId, topUpId: "t1", amount: 11n };
      const topped = await Promise.all(times.map((i) => of(i).topUp(top)));
      const charged = await Promise.all(times.map((i) => of(i).charge(env.chargeRequest("c1", 5n))));
      const holdId = charged[0]?.receiptId ?? "";
      const refund = { walletId, refundId: "r1", holdId, amount: 3n };
      const refunded = await Promise.all(times.map((i) => of(i).refund(refund)));
      for (const results of [topped, charged, refunded]) {
        expect(results.filter(({ replayed }) => !replayed)).toHaveLength(1);
      }
      expect(new Set(charged.map(({ receiptId }) => receiptId)).size).toBe(1);
      expect(await env.balances()).toMatchObject({ posted: 109n });
    });

    test("of a settlement and a release of one hold, exactly one succeeds", async () => {
      const ledgers = await bothLedgers();
      await env.topUp("more", 1_000n);
      const races = Array.from({ length: 40 }, async (_, i) => {
        const holdId = holdIdOf(`race${i}`);
        await env.hold(`race${i}`, 10n);
        const [settled, released] = await Promise.allSettled([
          (ledgers[i % 2] as Ledger).settle({ ...ended(), holdId, amount: 9n }),
          (ledgers[(i + 1) % 2] as Ledger).release({ ...ended(), holdId }),
        ]);
        expect([settled.status, released.status].sort()).toEqual(["fulfilled", "rejected"]);
        const receipt = await env.ledger.receipt(env.walletId, holdId);
        expect(receipt?.state).toBe(settled.status === "fulfilled" ? "settled" : "released");
      });
      await Promise.all(races);
    });

    test("a settlement and two sweeps book the cost once, in any order", async () => {
      const another = await env.openAnother();
      for (let i = 0; i < 8; i++) await env.hold(`h${i}`, 10n);
      for (let i = 0; i < 8; i++) await env.extend(`h${i}`, 4n);
      env.clock.nowMs += 60_000;
      const settles = Array.from({ length: 8 }, (_, i) =>
        (i % 2 ? another : env.ledger).settle({ ...ended(), holdId: holdIdOf(`h${i}`), amount: 9n }),
      );
      await Promise.all([env.sweep(), ...settles, env.sweepElsewhere()]);
      expect(await env.balances()).toEqual({ posted: 28n, held: 0n, available: 28n });
      const { items } = await env.ledger.receipts({ walletId: env.walletId }, { size: 9 });
      expect(items.map(({ state, captured }) => [state, captured])).toEqual(Array(8).fill(["settled", 9n]));
    });

    test("a release and two sweeps leave nothing held and book at most the accrued amount", async () => {
      const another = await env.openAnother();
      await env.hold("h1", 10n);
      await env.extend("h1", 4n);
      env.clock.nowMs += 60_000;
      const released = another.release(ended());
      await Promise.all([env.sweep(), released, env.sweepElsewhere()]);
      const posted = (await released).state === "released" ? 100n : 96n;
      expect(await env.balances()).toEqual({ posted, held: 0n, available: posted });
    });

    test("two ledgers that create the same wallets create each once", async () => {
      const another = await env.openAnother();
      const ids = Array.from({ length: 20 }, (_, i) => `${env.walletId}/${i}`);
      const both = [...ids, ...ids.toReversed()];
      await Promise.all(both.map((id, i) => (i % 2 ? another : env.ledger).createWallet(id)));
      await Promise.all(
        both.map((walletId, i) =>
          (i % 2 ? another : env.ledger).topUp({ walletId, topUpId: "t1", amount: 5n }),
        ),
      );
      for (const id of ids) expect(await another.balances(id)).toMatchObject({ posted: 5n });
    });

    test("a command completed by one ledger is visible to another at once", async () => {
      const another = await env.openAnother();
      await env.hold("h1", 30n);
      expect(await another.balances(env.walletId)).toMatchObject({ held: 30n });
      expect(await another.hold(env.holdRequest("h1", 30n))).toMatchObject({ replayed: true });
      await another.settle({ ...ended(), amount: 31n });
      expect(await env.receipt("h1")).toMatchObject({ captured: 31n });
      expect((await env.ledger.transfers(env.walletId, { size: 9 })).items).toHaveLength(2);
      const { rows: usage } = await another.usage({ walletId: env.walletId, groupBy: [] });
      expect(usage).toMatchObject([{ requests: 1, captured: 31n }]);
    });

    test("commands of one caller are decided in order", async () => {
      const commands = [
        env.topUp("t1", 1n),
        env.hold("h1", 101n),
        env.settle("h1", 51n),
        env.hold("h2", 50n),
        env.release("h2"),
        env.hold("h3", 50n),
      ];
      await Promise.all(commands);
      expect(await env.balances()).toEqual({ posted: 50n, held: 50n, available: 0n });
    });

    test("a thousand commands of the largest size succeed", async () => {
      const metadata = { text: "x".repeat(4_000) };
      const names = Array.from({ length: 1_000 }, (_, i) => `h${i}`);
      await Promise.all(names.map((name) => env.hold(name, 0n, { metadata })));
      const settled = await Promise.all(names.map((name) => env.settle(name, 0n, FACTS, metadata)));
      expect(settled.every(({ state, replayed }) => state === "settled" && !replayed)).toBe(true);
    });
  });
}
