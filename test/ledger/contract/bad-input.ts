import { describe, expect, test } from "bun:test";
import type { SpendLimit } from "../../../src/ledger/ledger.ts";
import { FACTS, holdIdOf, refusalOf } from "../samples.ts";
import type { Books } from "./env.ts";

const MOST = 4n * 10n ** 18n;
const YEAR_MS = 366 * 86_400_000;

/** What no type allows, but what a caller without types can send all the same. */
function wrong<Expected>(value: unknown): Expected {
  return value as Expected;
}

const BAD_AMOUNTS = [-1n, -MOST, MOST + 1n, 2n ** 63n, -(2n ** 63n), 2n ** 64n + 5n, 2n ** 200n];
const NO_AMOUNTS = [undefined, null, 5, 0.5, Number.NaN, "5", "", true, {}].map((value) =>
  wrong<bigint>(value),
);
const BAD_TTLS = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, YEAR_MS + 1, 2 ** 53];
const BAD_IDS = [
  "",
  "x".repeat(129),
  "é\n",
  "nul\0",
  "\u0085",
  "lone \ud800",
  "\udc00 lone",
  "😀".repeat(65),
  wrong<string>(undefined),
  wrong<string>(null),
  wrong<string>(7),
];
const GOOD_IDS = [
  "x".repeat(128),
  "😀".repeat(64),
  "a b",
  "'; DROP TABLE holds; --",
  "__proto__",
  "ÄÖ/..\\%_",
];
const H1 = holdIdOf("h1");
const BAD_HOLD_IDS = [
  "",
  "h1",
  H1.toUpperCase(),
  `{${H1}}`,
  `urn:uuid:${H1}`,
  H1.replaceAll("-", ""),
  `${H1} `,
  `${H1}\n`,
  ` ${H1}`,
  `${H1.slice(0, 14)}4${H1.slice(15)}`,
  `${H1.slice(0, 19)}7${H1.slice(20)}`,
  `${H1.slice(0, 19)}c${H1.slice(20)}`,
  "00000000-0000-0000-0000-000000000000",
  "ffffffff-ffff-ffff-ffff-ffffffffffff",
  `${H1}0`,
  `g${H1.slice(1)}`,
  `\0${H1.slice(1)}`,
  wrong<string>(undefined),
];

/** Bad input of every kind: a named refusal each, and nothing changed. */
export function describeBadInput(books: Books): void {
  describe("an amount that cannot be", () => {
    const amounts = [...BAD_AMOUNTS, ...NO_AMOUNTS];

    test("is refused by every command that takes one", async () => {
      await books.hold("open", 10n);
      await books.hold("paid", 10n);
      await books.settle("paid", 10n);
      for (const amount of amounts) {
        const refusals = await books.refusals([
          () => books.hold("h1", 5n, { amount }),
          () => books.hold("h1", 5n, { minimum: amount }),
          () => books.hold("h1", 5n, { amount, minimum: amount }),
          () => books.extend("open", amount),
          () => books.settle("open", amount),
          () => books.topUp("t1", amount),
          () => books.charge("c1", amount),
          () => books.refund("r1", "paid", amount),
          () => books.limit("l1", amount),
        ]);
        expect([amount, ...refusals]).toEqual([amount, ...Array(9).fill("invalid_amount")]);
      }
    });

    test("is a minimum above the amount", async () => {
      expect(await books.refusal(() => books.hold("h1", 5n, { minimum: 6n }))).toBe("invalid_amount");
    });

    test("is zero where nothing would move", async () => {
      await books.hold("h1", 10n);
      await books.settle("h1", 10n);
      expect(await books.refusal(() => books.topUp("t1", 0n))).toBe("invalid_amount");
      expect(await books.refusal(() => books.charge("c1", 0n))).toBe("invalid_amount");
      expect(await books.refusal(() => books.refund("r1", "h1", 0n))).toBe("invalid_amount");
    });

    test("is a life of a hold that is no whole number of milliseconds up to a year", async () => {
      await books.hold("open", 10n);
      for (const ttlMs of BAD_TTLS) {
        const commands = [() => books.hold("h1", 5n, { ttlMs }), () => books.extend("open", 5n, { ttlMs })];
        expect(await books.refusals(commands)).toEqual(["invalid_amount", "invalid_amount"]);
      }
      await books.hold("h1", 5n, { ttlMs: 1 });
      await books.hold("h2", 5n, { ttlMs: YEAR_MS });
    });
  });

  describe("an id that cannot be kept", () => {
    test("is refused wherever it is named", async () => {
      const { ledger, walletId } = books;
      await books.hold("open", 10n);
      for (const id of BAD_IDS) {
        const limit: SpendLimit = { walletId, limitId: "l1", keyId: "k1", period: "day", amount: 1n };
        const ended = { walletId: id, holdId: holdIdOf("open"), facts: FACTS };
        const extended = { walletId: id, holdId: holdIdOf("open"), accrued: 1n, ttlMs: 1 };
        const refunded = { walletId, refundId: "r1", holdId: holdIdOf("open"), amount: 1n };
        const commands = [
          () => ledger.createWallet(id),
          () => ledger.setWalletState({ walletId: id, state: "frozen" }),
          () => books.hold("h1", 1n, { walletId: id }),
          () => ledger.extend(extended),
          () => ledger.settle({ ...ended, amount: 1n }),
          () => ledger.release(ended),
          () => ledger.topUp({ walletId: id, topUpId: "t1", amount: 1n }),
          () => books.topUp(id, 1n),
          () => books.charge("c1", 1n, { walletId: id }),
          () => books.charge(id, 1n),
          () => books.charge("c1", 1n, { keyId: id }),
          () => ledger.refund({ ...refunded, walletId: id }),
          () => ledger.refund({ ...refunded, refundId: id }),
          () => ledger.setSpendLimit({ ...limit, walletId: id }),
          () => ledger.setSpendLimit({ ...limit, limitId: id }),
          () => ledger.deleteSpendLimit({ walletId: id, limitId: "l1" }),
          () => ledger.deleteSpendLimit({ walletId, limitId: id }),
        ];
        const refusals = await books.refusals(commands);
        expect([id, ...refusals]).toEqual([id, ...Array(commands.length).fill("invalid_id")]);
      }
    });

    test("is refused as a hold's key, and as a limit's unless it is left out", async () => {
      for (const keyId of BAD_IDS.filter((id) => typeof id === "string")) {
        const commands = [() => books.hold("h1", 1n, { keyId }), () => books.limit("l1", 1n, { keyId })];
        expect(await books.refusals(commands)).toEqual(["invalid_id", "invalid_id"]);
      }
      expect(await books.refusal(() => books.hold("h1", 1n, { keyId: wrong(undefined) }))).toBe("invalid_id");
    });

    test("is a hold's that is no lower-case UUIDv7", async () => {
      const { ledger, walletId } = books;
      await books.hold("h1", 10n);
      for (const holdId of BAD_HOLD_IDS) {
        const commands = [
          () => books.hold("h1", 10n, { holdId }),
          () => ledger.extend({ walletId, holdId, accrued: 1n, ttlMs: 1 }),
          () => ledger.settle({ walletId, holdId, amount: 1n, facts: FACTS }),
          () => ledger.release({ walletId, holdId, facts: FACTS }),
          () => ledger.refund({ walletId, refundId: "r1", holdId, amount: 1n }),
        ];
        const refusals = await books.refusals(commands);
        expect([holdId, ...refusals]).toEqual([holdId, ...Array(5).fill("invalid_id")]);
      }
    });

    test("is not one that is merely odd", async () => {
      const { ledger } = books;
      for (const id of GOOD_IDS) {
        const walletId = `${books.walletId}${id}`.slice(-128);
        await ledger.createWallet(walletId);
        await ledger.topUp({ walletId, topUpId: id, amount: 9n });
        await ledger.setSpendLimit({ walletId, limitId: id, keyId: id, period: "day", amount: 8n });
        await ledger.hold(books.holdRequest("h1", 3n, { walletId, keyId: id }));
        await ledger.settle({ walletId, holdId: H1, amount: 2n, facts: FACTS });
        await ledger.refund({ walletId, refundId: id, holdId: H1, amount: 1n });
        await ledger.charge(books.chargeRequest(id, 1n, { walletId, keyId: id }));
        expect(await ledger.wallet(walletId)).toMatchObject({ walletId, balances: { posted: 7n, held: 0n } });
        expect(await ledger.receipt(walletId, H1)).toMatchObject({ keyId: id });
        expect(await ledger.spendLimits(walletId, id)).toMatchObject([{ limitId: id, keyId: id, used: 2n }]);
        const { items } = await ledger.transfers(walletId, { size: 9 });
        expect(items.map(({ transferId }) => transferId)).toEqual([id, id, H1, id]);
      }
    });
  });

  describe("what is not there", () => {
    test("is a wallet that nobody created", async () => {
      const { ledger } = books;
      const walletId = `${books.walletId}-none`;
      const ended = { walletId, holdId: H1, facts: FACTS };
      const limit: SpendLimit = { walletId, limitId: "l1", keyId: "k1", period: "day", amount: 1n };
      const commands = [
        () => ledger.balances(walletId),
        () => ledger.setWalletState({ walletId, state: "frozen" }),
        () => books.hold("h1", 0n, { walletId }),
        () => books.extend("h1", 0n, { walletId }),
        () => ledger.settle({ ...ended, amount: 1n }),
        () => ledger.release(ended),
        () => ledger.topUp({ walletId, topUpId: "t1", amount: 1n }),
        () => books.charge("c1", 1n, { walletId }),
        () => ledger.refund({ walletId, refundId: "r1", holdId: H1, amount: 1n }),
        () => ledger.setSpendLimit(limit),
      ];
      const refusals = await books.refusals(commands);
      expect(refusals).toEqual(Array(commands.length).fill("wallet_not_found"));
      expect(await ledger.wallet(walletId)).toBeUndefined();
      expect(await ledger.spendLimits(walletId)).toEqual([]);
      expect(await ledger.receipt(walletId, H1)).toBeUndefined();
    });

    test("is a hold that nobody took, or took on another wallet", async () => {
      const other = `${books.walletId}-other`;
      await books.ledger.createWallet(other);
      await books.ledger.hold(books.holdRequest("h1", 0n, { walletId: other }));
      expect(await books.refusal(() => books.extend("h1", 1n))).toBe("hold_not_found");
      expect(await books.refusal(() => books.settle("h1", 1n))).toBe("hold_not_found");
      expect(await books.refusal(() => books.release("h1"))).toBe("hold_not_found");
      expect(await books.refusal(() => books.refund("r1", "h1", 1n))).toBe("hold_not_found");
      expect(await books.receipt("h1")).toBeUndefined();
    });

    test("is not found under a name that is no id either", async () => {
      const { ledger } = books;
      for (const walletId of ["", "nul\0", "lone \ud800", "x".repeat(100_000)]) {
        expect(await refusalOf(ledger.balances(walletId))).toBe("wallet_not_found");
        expect(await ledger.wallet(walletId)).toBeUndefined();
        expect(await ledger.spendLimits(walletId)).toEqual([]);
        expect(await ledger.spendLimits(walletId, "k1")).toEqual([]);
        expect(await ledger.receipt(walletId, H1)).toBeUndefined();
      }
      await books.hold("h1", 1n);
      for (const holdId of BAD_HOLD_IDS.filter((id) => typeof id === "string")) {
        expect(await ledger.receipt(books.walletId, holdId)).toBeUndefined();
      }
      await books.limit("l1", 1n);
      await books.limit("l2", 1n, { keyId: undefined });
      expect(await books.limits("")).toMatchObject([{ limitId: "l2" }]);
      for (const keyId of ["nul\0", "lone \ud800", "x".repeat(100_000)]) {
        expect(await books.limits(keyId)).toEqual([]);
      }
    });
  });
}
