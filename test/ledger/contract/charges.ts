import { describe, expect, test } from "bun:test";
import { FACTS, NOON_MS } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Charges: costs without a hold. */
export function describeCharges(env: LedgerEnv): void {
  const refund = (refundId: string, receiptId: string, amount: bigint) =>
    env.ledger.refund({ walletId: env.walletId, refundId, holdId: receiptId, amount });

  describe("a charge", () => {
    test("books a cost and has a receipt", async () => {
      const { walletId } = env;
      const charged = await env.charge("c1", 30n, { metadata: { team: "Zürich" } });
      expect(charged).toEqual({
        receiptId: expect.stringMatching(UUID_V7),
        balances: { posted: 70n, held: 0n, available: 70n },
        replayed: false,
      });
      expect(await env.ledger.receipt(walletId, charged.receiptId)).toEqual({
        holdId: charged.receiptId,
        walletId,
        keyId: "k1",
        scopes: [],
        state: "settled",
        late: false,
        granted: 0n,
        captured: 30n,
        refunded: 0n,
        createdAtMs: NOON_MS,
        resolvedAtMs: NOON_MS,
        request: { surface: "batch", model: "demo" },
        outcome: FACTS,
        metadata: { team: "Zürich" },
      });
      expect((await env.ledger.transfers(walletId, { size: 1 })).items).toEqual([
        {
          seq: 2,
          transferId: "c1",
          kind: "charge",
          amount: -30n,
          postedAfter: 70n,
          holdId: charged.receiptId,
          createdAtMs: NOON_MS,
        },
      ]);
    });

    test("is not declined for lack of money, by a limit or on a frozen wallet", async () => {
      await env.limit("l1", 5n);
      await env.freeze();
      expect(await env.charge("c1", 500n)).toMatchObject({
        balances: { posted: -400n, available: -400n },
      });
      expect(await env.limits()).toMatchObject([{ used: 500n, held: 0n }]);
    });

    test("counts against the limits of its key and of the wallet", async () => {
      await env.limit("mine", 50n, { period: "day" });
      await env.limit("all", 60n, { keyId: undefined, period: "month", timeZone: "Asia/Tokyo" });
      await env.limit("other", 50n, { keyId: "k2" });
      await env.charge("c1", 45n);
      const used = (await env.limits()).map((limit) => [limit.limitId, limit.used]);
      expect(used).toEqual([
        ["all", 45n],
        ["mine", 45n],
        ["other", 0n],
      ]);
      expect(await env.errorCode(() => env.hold("h1", 6n))).toBe("spending_limit_exceeded");
      expect(await env.hold("h1", 5n)).toMatchObject({ granted: 5n });
    });

    test("is refunded through its receipt, also on the limits", async () => {
      await env.limit("l1", 50n);
      const { receiptId } = await env.charge("c1", 30n);
      expect(await refund("r1", receiptId, 20n)).toMatchObject({ balances: { posted: 90n } });
      expect(await env.errorCode(() => refund("r2", receiptId, 11n))).toBe("refund_exceeds_charge");
      await refund("r2", receiptId, 10n);
      expect(await env.limits()).toMatchObject([{ used: 0n }]);
    });

    test("cannot be extended, settled for another amount, or released", async () => {
      const { ledger, walletId } = env;
      const { receiptId: holdId } = await env.charge("c1", 30n);
      const extend = () => ledger.extend({ walletId, holdId, accrued: 40n, ttlMs: 60_000 });
      const settle = () => ledger.settle({ walletId, holdId, amount: 31n, facts: FACTS });
      const release = () => ledger.release({ walletId, holdId, facts: FACTS });
      expect(await env.errorCode(extend)).toBe("hold_settled");
      expect(await env.errorCode(settle)).toBe("conflict");
      expect(await env.errorCode(release)).toBe("hold_settled");
    });

    test("is booked once when its replay and a conflict are in one batch", async () => {
      const [first, again, other] = await Promise.allSettled([
        env.charge("c1", 30n),
        env.charge("c1", 30n),
        env.charge("c1", 31n),
      ]);
      expect(first).toMatchObject({ value: { replayed: false } });
      const { value } = first as PromiseFulfilledResult<{ receiptId: string }>;
      expect(again).toMatchObject({ value: { replayed: true, receiptId: value.receiptId } });
      expect(other).toMatchObject({ reason: { code: "conflict" } });
      expect(await env.balances()).toMatchObject({ posted: 70n });
    });

    test("that is refunded after a limit was set leaves what the limit had counted", async () => {
      const { receiptId } = await env.charge("c1", 30n);
      await env.limit("l1", 50n);
      await refund("r1", receiptId, 30n);
      expect(await env.limits()).toMatchObject([{ used: 30n, held: 0n }]);
    });
  });
}
