import { describe, expect, test } from "bun:test";
import type { PageRequest, ReceiptFilter } from "../../../src/ledger/records.ts";
import { errorCodeOf } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";

const BAD_SIZES = [0, -1, 1.5, 1001, Number.NaN, Number.POSITIVE_INFINITY, "5", undefined].map(
  (size) => size as number,
);
/** Tokens that the ledger did not return: noise, other encodings and forgeries. */
const FORGED_TOKENS = [
  " ",
  "x",
  "\0",
  "null",
  "💣",
  "a".repeat(100_000),
  "' OR 1=1 --",
  ...[
    "",
    "{}",
    "[]",
    "null",
    "0",
    '"x"',
    '{"__proto__":1}',
    "' OR 1=1 --",
    '["x"]',
    "-1",
    "\0",
    "1e999",
  ].flatMap((text) => [btoa(text), Buffer.from(text).toString("base64url")]),
];

/** Pages of every list: their sizes and their tokens. */
export function describePages(env: LedgerEnv): void {
  const receipts = (filter: Partial<ReceiptFilter>, page: PageRequest = { size: 100 }) =>
    env.ledger.receipts({ walletId: env.walletId, ...filter }, page);
  describe("a page", () => {
    const lists = () =>
      ({
        receipts: (page: PageRequest) => receipts({}, page),
        transfers: (page: PageRequest) => env.ledger.transfers(env.walletId, page),
        wallets: (page: PageRequest) => env.ledger.wallets(page),
      }) as const;
    const names = ["receipts", "transfers", "wallets"] as const;

    test.each(names)("of %s has 1 to 1,000 items", async (name) => {
      for (const size of BAD_SIZES) {
        const errorCode = await errorCodeOf(lists()[name]({ size }));
        expect([size, errorCode]).toEqual([size, "invalid_query"]);
      }
      expect((await lists()[name]({ size: 1_000 })).items).toBeDefined();
    });

    test.each(names)("of %s rejects tokens that the ledger did not return", async (name) => {
      for (const token of FORGED_TOKENS) {
        const errorCode = await errorCodeOf(lists()[name]({ size: 1, token }));
        expect([token, errorCode]).toEqual([token, "invalid_query"]);
      }
    });

    test.each(names)("of %s rejects tokens in another encoding", async (name) => {
      await env.hold("h1", 0n);
      await env.hold("h2", 0n);
      await env.topUp("t1", 1n);
      await env.ledger.createWallet(`${env.walletId}-next`);
      const { nextToken = "" } = await lists()[name]({ size: 1 });
      expect((await lists()[name]({ size: 1, token: nextToken })).items).toHaveLength(1);
      for (const token of [
        `${nextToken}=`,
        `${nextToken} `,
        ` ${nextToken}`,
        `${nextToken}!`,
        `${nextToken}.`,
      ]) {
        expect([token, await errorCodeOf(lists()[name]({ size: 1, token }))]).toEqual([
          token,
          "invalid_query",
        ]);
      }
    });

    test.each(names)("of %s rejects tokens of other lists", async (name) => {
      for (const id of ["h1", "h2", "h3"]) await env.hold(id, 0n);
      for (const id of ["t1", "t2"]) await env.topUp(id, 1n);
      await env.ledger.createWallet(`${env.walletId}-next`);
      for (const other of names.filter((each) => each !== name)) {
        const { nextToken } = await lists()[other]({ size: 1 });
        expect(nextToken).toBeString();
        const errorCode = await errorCodeOf(lists()[name]({ size: 1, token: nextToken }));
        expect([other, errorCode]).toEqual([other, "invalid_query"]);
      }
    });

    test("never has items of another wallet, whatever the token", async () => {
      const other = `${env.walletId}-other`;
      await env.ledger.createWallet(other);
      for (const id of ["h1", "h2", "h3"]) {
        await env.hold(id, 0n);
        await env.ledger.hold(env.holdRequest(id, 0n, { walletId: other }));
      }
      const { nextToken } = await env.ledger.receipts({ walletId: other }, { size: 1 });
      const result = await receipts({}, { size: 5, token: nextToken }).then(
        ({ items }) => items.map(({ walletId }) => walletId),
        (error) => error.code,
      );
      if (typeof result === "string") expect(result).toBe("invalid_query");
      else expect(new Set(result)).toEqual(new Set([env.walletId]));
    });
  });
}
