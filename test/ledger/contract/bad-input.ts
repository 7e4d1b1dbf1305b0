import { describe, expect, test } from "bun:test";
import type { SpendLimit } from "../../../src/ledger/records.ts";
import { errorCodeOf, FACTS, holdIdOf } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";

const MOST = 4n * 10n ** 18n;
const YEAR_MS = 366 * 86_400_000;

/** A value of the wrong type, as an untyped caller can send it. */
function wrong<Expected>(value: unknown): Expected {
  return value as Expected;
}

const BAD_AMOUNTS = [-1n, -MOST, MOST + 1n, 2n ** 63n, -(2n ** 63n), 2n ** 64n + 5n, 2n ** 200n];
const WRONG_TYPES = [undefined, null, 5, 0.5, Number.NaN, "5", "", true, {}].map((value) =>
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

/** Invalid input: every command declines it with its own code and changes nothing. */
export function describeBadInput(env: LedgerEnv): void {
  describe("an invalid amount", () => {
    const amounts = [...BAD_AMOUNTS, ...WRONG_TYPES];

    test("is declined by every command with an amount", async () => {
      await env.hold("open", 10n);
      await env.hold("paid", 10n);
      await env.settle("paid", 10n);
      for (const amount of amounts) {
        const errorCodes = await env.errorCodes([
          () => env.hold("h1", 5n, { amount }),
          () => env.hold("h1", 5n, { minimum: amount }),
          () => env.hold("h1", 5n, { amount, minimum: amount }),
          () => env.extend("open", amount),
          () => env.settle("open", amount),
          // A negative amount of a top-up is a correction.
          () => env.topUp("t1", amount === -1n || amount === -MOST ? 0n : amount),
          () => env.charge("c1", amount),
          () => env.refund("r1", "paid", amount),
          () => env.limit("l1", amount),
        ]);
        expect([amount, ...errorCodes]).toEqual([amount, ...Array(9).fill("invalid_amount")]);
      }
    });

    test("is also a minimum above the amount", async () =>
      expect(await env.errorCode(() => env.hold("h1", 5n, { minimum: 6n }))).toBe("invalid_amount"));

    test("is also 0 for top-ups, charges and refunds", async () => {
      await env.hold("h1", 10n);
      await env.settle("h1", 10n);
      expect(await env.errorCode(() => env.topUp("t1", 0n))).toBe("invalid_amount");
      expect(await env.errorCode(() => env.charge("c1", 0n))).toBe("invalid_amount");
      expect(await env.errorCode(() => env.refund("r1", "h1", 0n))).toBe("invalid_amount");
    });

    test("is also a time to live that is not a whole number of milliseconds from 1 to a year", async () => {
      await env.hold("open", 10n);
      for (const ttlMs of BAD_TTLS) {
        const commands = [() => env.hold("h1", 5n, { ttlMs }), () => env.extend("open", 5n, { ttlMs })];
        expect(await env.errorCodes(commands)).toEqual(["invalid_amount", "invalid_amount"]);
      }
      await env.hold("h1", 5n, { ttlMs: 1 });
      await env.hold("h2", 5n, { ttlMs: YEAR_MS });
    });
  });

  describe("an invalid id", () => {
    test("is declined by every command", async () => {
      const { ledger, walletId } = env;
      await env.hold("open", 10n);
      for (const id of BAD_IDS) {
        const limit: SpendLimit = { walletId, limitId: "l1", keyId: "k1", period: "day", amount: 1n };
        const ended = { walletId: id, holdId: holdIdOf("open"), facts: FACTS };
        const extended = { walletId: id, holdId: holdIdOf("open"), accrued: 1n, ttlMs: 1 };
        const refunded = { walletId, refundId: "r1", holdId: holdIdOf("open"), amount: 1n };
        const commands = [
          () => ledger.createWallet(id),
          () => ledger.setWalletState({ walletId: id, state: "frozen" }),
          () => env.hold("h1", 1n, { walletId: id }),
          () => ledger.extend(extended),
          () => ledger.settle({ ...ended, amount: 1n }),
          () => ledger.release(ended),
          () => ledger.topUp({ walletId: id, topUpId: "t1", amount: 1n }),
          () => env.topUp(id, 1n),
          () => env.charge("c1", 1n, { walletId: id }),
          () => env.charge(id, 1n),
          () => env.charge("c1", 1n, { keyId: id }),
          () => ledger.refund({ ...refunded, walletId: id }),
          () => ledger.refund({ ...refunded, refundId: id }),
          () => ledger.setSpendLimit({ ...limit, walletId: id }),
          () => ledger.setSpendLimit({ ...limit, limitId: id }),
          () => ledger.deleteSpendLimit({ walletId: id, limitId: "l1" }),
          () => ledger.deleteSpendLimit({ walletId, limitId: id }),
        ];
        const errorCodes = await env.errorCodes(commands);
        expect([id, ...errorCodes]).toEqual([id, ...Array(commands.length).fill("invalid_id")]);
      }
    });

    test("is declined as the key of a hold or limit, where only a limit's key may be absent", async () => {
      for (const keyId of BAD_IDS.filter((id) => typeof id === "string")) {
        const commands = [() => env.hold("h1", 1n, { keyId }), () => env.limit("l1", 1n, { keyId })];
        expect(await env.errorCodes(commands)).toEqual(["invalid_id", "invalid_id"]);
      }
      expect(await env.errorCode(() => env.hold("h1", 1n, { keyId: wrong(undefined) }))).toBe("invalid_id");
    });

    test("is also a hold id that is not a lower-case UUIDv7", async () => {
      const { ledger, walletId } = env;
      await env.hold("h1", 10n);
      for (const holdId of BAD_HOLD_IDS) {
        const commands = [
          () => env.hold("h1", 10n, { holdId }),
          () => ledger.extend({ walletId, holdId, accrued: 1n, ttlMs: 1 }),
          () => ledger.settle({ walletId, holdId, amount: 1n, facts: FACTS }),
          () => ledger.release({ walletId, holdId, facts: FACTS }),
          () => ledger.refund({ walletId, refundId: "r1", holdId, amount: 1n }),
        ];
        const errorCodes = await env.errorCodes(commands);
        expect([holdId, ...errorCodes]).toEqual([holdId, ...Array(5).fill("invalid_id")]);
      }
    });

    test("is not an id that only has unusual characters", async () => {
      const { ledger } = env;
      for (const id of GOOD_IDS) {
        const walletId = `${env.walletId}${id}`.slice(-128);
        await ledger.createWallet(walletId);
        await ledger.topUp({ walletId, topUpId: id, amount: 9n });
        await ledger.setSpendLimit({ walletId, limitId: id, keyId: id, period: "day", amount: 8n });
        await ledger.hold(env.holdRequest("h1", 3n, { walletId, keyId: id }));
        await ledger.settle({ walletId, holdId: H1, amount: 2n, facts: FACTS });
        await ledger.refund({ walletId, refundId: id, holdId: H1, amount: 1n });
        await ledger.charge(env.chargeRequest(id, 1n, { walletId, keyId: id }));
        expect(await ledger.wallet(walletId)).toMatchObject({ walletId, balances: { posted: 7n, held: 0n } });
        expect(await ledger.receipt(walletId, H1)).toMatchObject({ keyId: id });
        expect(await ledger.spendLimits(walletId, id)).toMatchObject([{ limitId: id, keyId: id, used: 2n }]);
        const { items } = await ledger.transfers(walletId, { size: 9 });
        expect(items.map(({ transferId }) => transferId)).toEqual([id, id, H1, id]);
      }
    });
  });

  describe("an unknown id", () => {
    test("of a wallet is wallet_not_found", async () => {
      const { ledger } = env;
      const walletId = `${env.walletId}-none`;
      const ended = { walletId, holdId: H1, facts: FACTS };
      const limit: SpendLimit = { walletId, limitId: "l1", keyId: "k1", period: "day", amount: 1n };
      const commands = [
        () => ledger.balances(walletId),
        () => ledger.setWalletState({ walletId, state: "frozen" }),
        () => env.hold("h1", 0n, { walletId }),
        () => env.extend("h1", 0n, { walletId }),
        () => ledger.settle({ ...ended, amount: 1n }),
        () => ledger.release(ended),
        () => ledger.topUp({ walletId, topUpId: "t1", amount: 1n }),
        () => env.charge("c1", 1n, { walletId }),
        () => ledger.refund({ walletId, refundId: "r1", holdId: H1, amount: 1n }),
        () => ledger.setSpendLimit(limit),
      ];
      const errorCodes = await env.errorCodes(commands);
      expect(errorCodes).toEqual(Array(commands.length).fill("wallet_not_found"));
      expect(await ledger.wallet(walletId)).toBeUndefined();
      expect(await ledger.spendLimits(walletId)).toEqual([]);
      expect(await ledger.receipt(walletId, H1)).toBeUndefined();
    });

    test("of a hold, or of a hold on another wallet, is hold_not_found", async () => {
      const other = `${env.walletId}-other`;
      await env.ledger.createWallet(other);
      await env.ledger.hold(env.holdRequest("h1", 0n, { walletId: other }));
      expect(await env.errorCode(() => env.extend("h1", 1n))).toBe("hold_not_found");
      expect(await env.errorCode(() => env.settle("h1", 1n))).toBe("hold_not_found");
      expect(await env.errorCode(() => env.release("h1"))).toBe("hold_not_found");
      expect(await env.errorCode(() => env.refund("r1", "h1", 1n))).toBe("hold_not_found");
      expect(await env.receipt("h1")).toBeUndefined();
    });

    test("that is also invalid is not found by reads", async () => {
      const { ledger } = env;
      for (const walletId of ["", "nul\0", "lone \ud800", "x".repeat(100_000)]) {
        expect(await errorCodeOf(ledger.balances(walletId))).toBe("wallet_not_found");
        expect(await ledger.wallet(walletId)).toBeUndefined();
        expect(await ledger.spendLimits(walletId)).toEqual([]);
        expect(await ledger.spendLimits(walletId, "k1")).toEqual([]);
        expect(await ledger.receipt(walletId, H1)).toBeUndefined();
      }
      await env.hold("h1", 1n);
      for (const holdId of BAD_HOLD_IDS.filter((id) => typeof id === "string")) {
        expect(await ledger.receipt(env.walletId, holdId)).toBeUndefined();
      }
      await env.limit("l1", 1n);
      await env.limit("l2", 1n, { keyId: undefined });
      expect(await env.limits("")).toMatchObject([{ limitId: "l2" }]);
      for (const keyId of ["nul\0", "lone \ud800", "x".repeat(100_000)]) {
        expect(await env.limits(keyId)).toEqual([]);
      }
    });
  });
}
