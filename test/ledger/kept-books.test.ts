import { expect, test } from "bun:test";
import { Counters, type Wallet } from "../../src/ledger/core/book.ts";
import { Credits } from "../../src/ledger/core/credits.ts";
import { createWorkingBook } from "../../src/ledger/core/working-book.ts";
import { type KeptBook, KeptBooks } from "../../src/ledger/engine/kept-books.ts";

function bookOf(walletId: string, rows: number): KeptBook {
  const wallet: Wallet = {
    walletId,
    posted: 0n,
    held: 0n,
    creditLimit: 0n,
    state: "active",
    lastSeq: 0,
    createdAtMs: 0,
    newestCredit: 0,
    isMixed: false,
    newestHoldMs: 0,
  };
  const book = createWorkingBook({
    wallet,
    holds: new Map(),
    limits: new Map(),
    counters: new Counters(),
    windowStarts: new Map(),
    postings: new Map(),
    spends: new Map(),
    credits: new Credits(),
    dueHoldIds: [],
  });
  const bindings = new Set(Array.from({ length: rows }, (_, row) => `end_user\n${row}`));
  return Object.assign(book, { bindings, kinds: undefined, hasCredits: false, keptRows: 0 });
}

test("a wallet with more than a quarter of the rows is dropped before those that were read earlier", () => {
  const kept = new KeptBooks(100);
  kept.keep(new Map([["small", bookOf("small", 10)]]));
  kept.keep(new Map([["large", bookOf("large", 95)]]));
  expect(kept.get("small")).toBeDefined();
  expect(kept.get("large")).toBeUndefined();
});

test("of wallets of one size, those that were read first are dropped", () => {
  const kept = new KeptBooks(100);
  for (const walletId of ["a", "b", "c", "d", "e"]) kept.keep(new Map([[walletId, bookOf(walletId, 23)]]));
  expect(["a", "b", "c", "d", "e"].map((walletId) => kept.get(walletId) !== undefined)).toEqual([
    false,
    true,
    true,
    true,
    true,
  ]);
});
