import { describe, expect, test } from "bun:test";
import type { PageRequest, ReceiptFilter } from "../../../src/ledger/ledger.ts";
import { refusalOf } from "../samples.ts";
import type { Books } from "./env.ts";

const BAD_SIZES = [0, -1, 1.5, 1001, Number.NaN, Number.POSITIVE_INFINITY, "5", undefined].map(
  (size) => size as number,
);
/** Tokens that nobody gave: junk, of another form, or what a forger would try. */
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

/** Pages of every list: how large they may be, and where they may begin. */
export function describePages(books: Books): void {
  const receipts = (filter: Partial<ReceiptFilter>, page: PageRequest = { size: 100 }) =>
    books.ledger.receipts({ walletId: books.walletId, ...filter }, page);
  describe("a page", () => {
    const lists = () =>
      ({
        receipts: (page: PageRequest) => receipts({}, page),
        transfers: (page: PageRequest) => books.ledger.transfers(books.walletId, page),
        wallets: (page: PageRequest) => books.ledger.wallets(page),
      }) as const;
    const names = ["receipts", "transfers", "wallets"] as const;

    test.each(names)("of %s has 1 to 1,000 items", async (name) => {
      for (const size of BAD_SIZES) {
        const refusal = await refusalOf(lists()[name]({ size }));
        expect([size, refusal]).toEqual([size, "invalid_query"]);
      }
      expect((await lists()[name]({ size: 1_000 })).items).toBeDefined();
    });

    test.each(names)("of %s begins at no token that the ledger did not give", async (name) => {
      for (const token of FORGED_TOKENS) {
        const refusal = await refusalOf(lists()[name]({ size: 1, token }));
        expect([token, refusal]).toEqual([token, "invalid_query"]);
      }
    });

    test.each(names)("of %s begins at no token that was written another way", async (name) => {
      await books.hold("h1", 0n);
      await books.hold("h2", 0n);
      await books.topUp("t1", 1n);
      await books.ledger.createWallet(`${books.walletId}-next`);
      const { nextToken = "" } = await lists()[name]({ size: 1 });
      expect((await lists()[name]({ size: 1, token: nextToken })).items).toHaveLength(1);
      for (const token of [
        `${nextToken}=`,
        `${nextToken} `,
        ` ${nextToken}`,
        `${nextToken}!`,
        `${nextToken}.`,
      ]) {
        expect([token, await refusalOf(lists()[name]({ size: 1, token }))]).toEqual([token, "invalid_query"]);
      }
    });

    test.each(names)("of %s begins at no token of another list", async (name) => {
      for (const id of ["h1", "h2", "h3"]) await books.hold(id, 0n);
      for (const id of ["t1", "t2"]) await books.topUp(id, 1n);
      await books.ledger.createWallet(`${books.walletId}-next`);
      for (const other of names.filter((each) => each !== name)) {
        const { nextToken } = await lists()[other]({ size: 1 });
        expect(nextToken).toBeString();
        const refusal = await refusalOf(lists()[name]({ size: 1, token: nextToken }));
        expect([other, refusal]).toEqual([other, "invalid_query"]);
      }
    });

    test("never shows what belongs to another wallet, whoever's token it is", async () => {
      const other = `${books.walletId}-other`;
      await books.ledger.createWallet(other);
      for (const id of ["h1", "h2", "h3"]) {
        await books.hold(id, 0n);
        await books.ledger.hold(books.holdRequest(id, 0n, { walletId: other }));
      }
      const { nextToken } = await books.ledger.receipts({ walletId: other }, { size: 1 });
      const said = await receipts({}, { size: 5, token: nextToken }).then(
        ({ items }) => items.map(({ walletId }) => walletId),
        (error) => error.refusal,
      );
      if (typeof said === "string") expect(said).toBe("invalid_query");
      else expect(new Set(said)).toEqual(new Set([books.walletId]));
    });
  });
}
