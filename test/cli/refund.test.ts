import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../src/accounts/account.ts";
import { type RefundOptions, runRefund } from "../../src/cli/refund.ts";
import { openTempBooks, type TempBooks } from "../accounts/temp-books.ts";

let books: TempBooks;
let account: Account;
let receipt: string;
beforeEach(async () => {
  books = await openTempBooks();
  account = await books.newAccount("acme");
  receipt = await charge(1_000n);
});
afterEach(() => books.close());

/** A request that was charged this much of 5,000 nano-USD. */
async function charge(amount: bigint): Promise<string> {
  const holdId = Bun.randomUUIDv7("hex", books.clock.nowMs);
  const hold = { walletId: account.id, holdId };
  const facts = { surface: "chat", model: "demo" };
  await books.ledger.topUp({ walletId: account.id, topUpId: holdId, amount: 5_000n });
  await books.ledger.hold({ ...hold, keyId: "k", amount: 5_000n, minimum: 5_000n, ttlMs: 60_000, facts });
  const outcome = { outcome: "ok", source: "reported", totalMs: 1, attempts: [] } as const;
  await books.ledger.settle({ ...hold, amount, facts: outcome });
  return holdId;
}

function refund(options: Partial<RefundOptions> & { id: string }) {
  return runRefund(books, { account: "acme", receipt, ...options });
}

const postedNow = async () => (await books.ledger.balances(account.id)).posted;

describe("refund", () => {
  test("gives back all that is left of the charge", async () => {
    await refund({ id: "part", amount: 300n });
    const { json } = await refund({ id: "rest" });
    expect(json).toMatchObject({ amount_usd: "0.0000007", posted_usd: "0.000005", replayed: false });
  });

  test("gives back once, however often the same command runs", async () => {
    await refund({ id: "part", amount: 300n });
    const [first, ...others] = await Promise.all([
      refund({ id: "r" }),
      refund({ id: "r" }),
      refund({ id: "r" }),
    ]);
    const late = await refund({ id: "r" });
    expect(first.json.replayed).toBe(false);
    for (const { json, text } of [...others, late]) {
      expect(json).toMatchObject({ amount_usd: "0.0000007", replayed: true });
      expect(text).toStartWith("Refund r was booked before: nothing was added.");
    }
    expect(await postedNow()).toBe(5_000n);
  });

  test("never gives back more than was charged", async () => {
    await expect(refund({ id: "r", amount: 1_001n })).rejects.toMatchObject({
      code: "refund_exceeds_charge",
    });
    await refund({ id: "all" });
    await expect(refund({ id: "more" })).rejects.toThrow("Nothing is left of the charge to refund.");
    expect(await postedNow()).toBe(5_000n);
  });

  test("refuses an id that gave back another receipt's charge", async () => {
    await refund({ id: "r" });
    receipt = await charge(2_000n);
    await expect(refund({ id: "r" })).rejects.toMatchObject({ code: "conflict" });
    expect(await postedNow()).toBe(8_000n);
  });

  test("knows no receipt of another account", async () => {
    await books.newAccount("other");
    await expect(refund({ id: "r", account: "other" })).rejects.toThrow("The account has no such receipt.");
    await expect(refund({ id: "r", account: "nobody" })).rejects.toThrow('There is no account "nobody".');
    expect(await postedNow()).toBe(4_000n);
  });
});
