import { describe, expect, test } from "bun:test";
import type { ChargeRequest, HoldRequest } from "../../../src/ledger/ledger.ts";
import { holdIdOf } from "../samples.ts";
import type { Books } from "./env.ts";

/** The same id with the same parameters is the same command, with others a conflict: for every mutation. */
export function describeIdempotency(books: Books): void {
  describe("a repeated command", () => {
    test("hold answers as before, with the balances of now", async () => {
      const asked = { minimum: 5n, metadata: { a: 1, b: [null, "x"] } };
      await books.topUp("more", 1n);
      expect(await books.hold("h1", 200n, asked)).toMatchObject({ granted: 101n, replayed: false });
      await books.topUp("later", 50n);
      expect(await books.hold("h1", 200n, asked)).toEqual({
        granted: 101n,
        balances: { posted: 151n, held: 101n, available: 50n },
        replayed: true,
      });
    });

    test("hold answers as before when the hold has ended", async () => {
      await books.hold("h1", 20n);
      await books.settle("h1", 30n);
      await books.hold("h2", 20n);
      await books.release("h2");
      for (const name of ["h1", "h2"]) {
        expect(await books.hold(name, 20n)).toMatchObject({ granted: 20n, replayed: true });
      }
      expect(await books.balances()).toEqual({ posted: 70n, held: 0n, available: 70n });
    });

    test.each<[string, Partial<HoldRequest>]>([
      ["amount", { amount: 31n }],
      ["minimum", { minimum: 29n }],
      ["key", { keyId: "k2" }],
      ["life", { ttlMs: 60_001 }],
      ["surface", { facts: { surface: "messages", model: "demo" } }],
      ["model", { facts: { surface: "chat", model: "demo-2" } }],
      ["metadata", { metadata: { job: 8 } }],
      ["missing metadata", { metadata: undefined }],
    ])("hold with another %s is a conflict", async (_, changes) => {
      const asked = { metadata: { job: 7 } };
      await books.hold("h1", 30n, asked);
      expect(await books.refusal(() => books.hold("h1", 30n, { ...asked, ...changes }))).toBe("conflict");
      await books.settle("h1", 1n);
      expect(await books.refusal(() => books.hold("h1", 30n, { ...asked, ...changes }))).toBe("conflict");
    });

    test("settle answers as before, and with another amount is a conflict", async () => {
      await books.hold("h1", 30n);
      await books.settle("h1", 40n);
      await books.topUp("later", 5n);
      expect(await books.settle("h1", 40n)).toEqual({
        state: "settled",
        captured: 40n,
        balances: { posted: 65n, held: 0n, available: 65n },
        replayed: true,
      });
      expect(await books.refusal(() => books.settle("h1", 39n))).toBe("conflict");
      expect(await books.refusal(() => books.settle("h1", 0n))).toBe("conflict");
    });

    test("settle answers as before after a refund", async () => {
      await books.hold("h1", 30n);
      await books.settle("h1", 40n);
      await books.refund("r1", "h1", 40n);
      expect(await books.settle("h1", 40n)).toMatchObject({ captured: 40n, replayed: true });
    });

    test("settle keeps what the first one said", async () => {
      await books.hold("h1", 30n);
      await books.settle("h1", 10n);
      const before = await books.receipt("h1");
      const other = { outcome: "client_closed", source: "none", attempts: [] } as const;
      await books.settle("h1", 10n, other, { late: true });
      expect(await books.receipt("h1")).toEqual(before);
    });

    test("release answers as before", async () => {
      await books.hold("h1", 30n);
      await books.release("h1");
      await books.topUp("later", 5n);
      expect(await books.release("h1")).toEqual({
        state: "released",
        captured: 0n,
        balances: { posted: 105n, held: 0n, available: 105n },
        replayed: true,
      });
    });

    test("top-up answers as before, and with another amount is a conflict", async () => {
      expect(await books.topUp("t1", 5n)).toMatchObject({ replayed: false });
      await books.hold("h1", 30n);
      expect(await books.topUp("t1", 5n)).toEqual({
        balances: { posted: 105n, held: 30n, available: 75n },
        replayed: true,
      });
      expect(await books.refusal(() => books.topUp("t1", 6n))).toBe("conflict");
    });

    test("charge answers as before, with the same receipt", async () => {
      const { receiptId } = await books.charge("c1", 5n);
      await books.topUp("later", 1n);
      expect(await books.charge("c1", 5n)).toEqual({
        receiptId,
        balances: { posted: 96n, held: 0n, available: 96n },
        replayed: true,
      });
    });

    test.each<[string, Partial<ChargeRequest>]>([
      ["amount", { amount: 6n }],
      ["key", { keyId: "k2" }],
    ])("charge with another %s is a conflict", async (_, changes) => {
      await books.charge("c1", 5n);
      expect(await books.refusal(() => books.charge("c1", 5n, changes))).toBe("conflict");
    });

    test("refund answers as before, and with another amount or hold is a conflict", async () => {
      await books.hold("h1", 20n);
      await books.hold("h2", 20n);
      await books.settle("h1", 20n);
      await books.settle("h2", 20n);
      await books.refund("r1", "h1", 20n);
      expect(await books.refund("r1", "h1", 20n)).toEqual({
        balances: { posted: 80n, held: 0n, available: 80n },
        replayed: true,
      });
      expect(await books.refusal(() => books.refund("r1", "h1", 19n))).toBe("conflict");
      expect(await books.refusal(() => books.refund("r1", "h2", 20n))).toBe("conflict");
      expect(await books.refusal(() => books.refund("r1", "none", 20n))).toBe("conflict");
    });

    test("create wallet changes nothing", async () => {
      await books.hold("h1", 20n);
      await books.freeze();
      const before = await books.snapshot();
      expect(await books.ledger.createWallet(books.walletId)).toEqual({
        posted: 100n,
        held: 20n,
        available: 80n,
      });
      expect(await books.snapshot()).toEqual(before);
    });

    test("of another kind may have the same id", async () => {
      await books.topUp("same", 7n);
      const { receiptId } = await books.charge("same", 7n);
      const { walletId } = books;
      await books.ledger.refund({ walletId, refundId: "same", holdId: receiptId, amount: 7n });
      const again = { walletId, refundId: "same", holdId: receiptId, amount: 7n };
      expect(await books.ledger.refund(again)).toMatchObject({ replayed: true });
      expect(await books.balances()).toMatchObject({ posted: 107n });
    });

    test("in one turn has one effect: the first one's", async () => {
      const said = await Promise.all([
        books.hold("h1", 30n),
        books.hold("h1", 30n),
        books.settle("h1", 20n),
        books.settle("h1", 20n),
        books.refund("r1", "h1", 5n),
        books.refund("r1", "h1", 5n),
        books.topUp("t1", 1n),
        books.topUp("t1", 1n),
      ]);
      expect(said.map(({ replayed }) => replayed)).toEqual(Array(4).fill([false, true]).flat());
      expect(await books.balances()).toEqual({ posted: 86n, held: 0n, available: 86n });
      expect((await books.ledger.receipts({ walletId: books.walletId }, { size: 9 })).items).toHaveLength(1);
      expect(await books.ledger.receipt(books.walletId, holdIdOf("h1"))).toMatchObject({ refunded: 5n });
    });
  });
}
