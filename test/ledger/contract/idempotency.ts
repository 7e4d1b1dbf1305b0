import { describe, expect, test } from "bun:test";
import type { ChargeRequest, HoldRequest } from "../../../src/ledger/ledger.ts";
import { holdIdOf } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";

/** For every command: a repeated id with equal parameters is a replay, with other parameters a conflict. */
export function describeIdempotency(env: LedgerEnv): void {
  describe("a repeated command", () => {
    test("hold returns the first result with the balances of now", async () => {
      const asked = { minimum: 5n, metadata: { a: 1, b: [null, "x"] } };
      await env.topUp("more", 1n);
      expect(await env.hold("h1", 200n, asked)).toMatchObject({ granted: 101n, replayed: false });
      await env.topUp("later", 50n);
      expect(await env.hold("h1", 200n, asked)).toEqual({
        granted: 101n,
        balances: { posted: 151n, held: 101n, available: 50n },
        replayed: true,
      });
    });

    test("hold returns the first result after the hold was resolved", async () => {
      await env.hold("h1", 20n);
      await env.settle("h1", 30n);
      await env.hold("h2", 20n);
      await env.release("h2");
      for (const name of ["h1", "h2"]) {
        expect(await env.hold(name, 20n)).toMatchObject({ granted: 20n, replayed: true });
      }
      expect(await env.balances()).toEqual({ posted: 70n, held: 0n, available: 70n });
    });

    test.each<[string, Partial<HoldRequest>]>([
      ["amount", { amount: 31n }],
      ["minimum", { minimum: 29n }],
      ["key", { keyId: "k2" }],
      ["time to live", { ttlMs: 60_001 }],
      ["surface", { facts: { surface: "messages", model: "demo" } }],
      ["model", { facts: { surface: "chat", model: "demo-2" } }],
      ["metadata", { metadata: { job: 8 } }],
      ["missing metadata", { metadata: undefined }],
    ])("hold conflicts with another %s", async (_, changes) => {
      const asked = { metadata: { job: 7 } };
      await env.hold("h1", 30n, asked);
      expect(await env.errorCode(() => env.hold("h1", 30n, { ...asked, ...changes }))).toBe("conflict");
      await env.settle("h1", 1n);
      expect(await env.errorCode(() => env.hold("h1", 30n, { ...asked, ...changes }))).toBe("conflict");
    });

    test("settle returns the first result, and conflicts with another amount", async () => {
      await env.hold("h1", 30n);
      await env.settle("h1", 40n);
      await env.topUp("later", 5n);
      expect(await env.settle("h1", 40n)).toEqual({
        state: "settled",
        captured: 40n,
        balances: { posted: 65n, held: 0n, available: 65n },
        replayed: true,
      });
      expect(await env.errorCode(() => env.settle("h1", 39n))).toBe("conflict");
      expect(await env.errorCode(() => env.settle("h1", 0n))).toBe("conflict");
    });

    test("settle returns the first result after a refund", async () => {
      await env.hold("h1", 30n);
      await env.settle("h1", 40n);
      await env.refund("r1", "h1", 40n);
      expect(await env.settle("h1", 40n)).toMatchObject({ captured: 40n, replayed: true });
    });

    test("settle keeps the facts and metadata of the first", async () => {
      await env.hold("h1", 30n);
      await env.settle("h1", 10n);
      const before = await env.receipt("h1");
      const other = { outcome: "client_closed", source: "none", attempts: [] } as const;
      await env.settle("h1", 10n, other, { late: true });
      expect(await env.receipt("h1")).toEqual(before);
    });

    test("release returns the first result", async () => {
      await env.hold("h1", 30n);
      await env.release("h1");
      await env.topUp("later", 5n);
      expect(await env.release("h1")).toEqual({
        state: "released",
        captured: 0n,
        balances: { posted: 105n, held: 0n, available: 105n },
        replayed: true,
      });
    });

    test("top-up returns the first result, and conflicts with another amount", async () => {
      expect(await env.topUp("t1", 5n)).toMatchObject({ replayed: false });
      await env.hold("h1", 30n);
      expect(await env.topUp("t1", 5n)).toEqual({
        balances: { posted: 105n, held: 30n, available: 75n },
        replayed: true,
      });
      expect(await env.errorCode(() => env.topUp("t1", 6n))).toBe("conflict");
    });

    test("charge returns the first result with its receipt id", async () => {
      const { receiptId } = await env.charge("c1", 5n);
      await env.topUp("later", 1n);
      expect(await env.charge("c1", 5n)).toEqual({
        receiptId,
        balances: { posted: 96n, held: 0n, available: 96n },
        replayed: true,
      });
    });

    test.each<[string, Partial<ChargeRequest>]>([
      ["amount", { amount: 6n }],
      ["key", { keyId: "k2" }],
    ])("charge conflicts with another %s", async (_, changes) => {
      await env.charge("c1", 5n);
      expect(await env.errorCode(() => env.charge("c1", 5n, changes))).toBe("conflict");
    });

    test("refund returns the first result, and conflicts with another amount or hold", async () => {
      await env.hold("h1", 20n);
      await env.hold("h2", 20n);
      await env.settle("h1", 20n);
      await env.settle("h2", 20n);
      await env.refund("r1", "h1", 20n);
      expect(await env.refund("r1", "h1", 20n)).toEqual({
        balances: { posted: 80n, held: 0n, available: 80n },
        replayed: true,
      });
      expect(await env.errorCode(() => env.refund("r1", "h1", 19n))).toBe("conflict");
      expect(await env.errorCode(() => env.refund("r1", "h2", 20n))).toBe("conflict");
      expect(await env.errorCode(() => env.refund("r1", "none", 20n))).toBe("conflict");
    });

    test("createWallet changes nothing", async () => {
      await env.hold("h1", 20n);
      await env.freeze();
      const before = await env.snapshot();
      expect(await env.ledger.createWallet(env.walletId)).toEqual({
        posted: 100n,
        held: 20n,
        available: 80n,
      });
      expect(await env.snapshot()).toEqual(before);
    });

    test("of another kind may use the id", async () => {
      await env.topUp("same", 7n);
      const { receiptId } = await env.charge("same", 7n);
      const { walletId } = env;
      await env.ledger.refund({ walletId, refundId: "same", holdId: receiptId, amount: 7n });
      const again = { walletId, refundId: "same", holdId: receiptId, amount: 7n };
      expect(await env.ledger.refund(again)).toMatchObject({ replayed: true });
      expect(await env.balances()).toMatchObject({ posted: 107n });
    });

    test("in the same batch has no second effect", async () => {
      const results = await Promise.all([
        env.hold("h1", 30n),
        env.hold("h1", 30n),
        env.settle("h1", 20n),
        env.settle("h1", 20n),
        env.refund("r1", "h1", 5n),
        env.refund("r1", "h1", 5n),
        env.topUp("t1", 1n),
        env.topUp("t1", 1n),
      ]);
      expect(results.map(({ replayed }) => replayed)).toEqual(Array(4).fill([false, true]).flat());
      expect(await env.balances()).toEqual({ posted: 86n, held: 0n, available: 86n });
      expect((await env.ledger.receipts({ walletId: env.walletId }, { size: 9 })).items).toHaveLength(1);
      expect(await env.ledger.receipt(env.walletId, holdIdOf("h1"))).toMatchObject({ refunded: 5n });
    });
  });
}
