import { beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../src/accounts/accounts.ts";
import { type RefundOptions, runCorrect, runRefund, runTopUp } from "../../src/cli/money.ts";
import { runWallet } from "../../src/cli/wallet.ts";
import { storageForTests } from "../accounts/temp-storage.ts";

const storage = storageForTests();
let account: Account;
let receipt: string;
beforeEach(async () => {
  account = await storage.newAccount("acme");
  receipt = await charge(1_000n);
});

/** Tops up 5,000 nano-USD, charges this much of them for a request, and returns its id. */
async function charge(amount: bigint): Promise<string> {
  const holdId = Bun.randomUUIDv7("hex", storage.clock.nowMs);
  const hold = { walletId: account.id, holdId };
  const facts = { surface: "chat", model: "demo" };
  await storage.ledger.topUp({ walletId: account.id, topUpId: holdId, amount: 5_000n });
  await storage.ledger.hold({ ...hold, keyId: "k", amount: 5_000n, minimum: 5_000n, ttlMs: 60_000, facts });
  const outcome = { outcome: "ok", source: "reported", totalMs: 1, attempts: [] } as const;
  await storage.ledger.settle({ ...hold, amount, facts: outcome });
  return holdId;
}

function refund(options: Partial<RefundOptions> & { id: string }) {
  return runRefund(storage, { account: "acme", receipt, ...options });
}

const postedNow = async () => (await storage.ledger.balances(account.id)).posted;

describe("refund", () => {
  test("without an amount refunds the rest of the charge", async () => {
    await refund({ id: "part", amount: 300n });
    const { json } = await refund({ id: "rest" });
    expect(json).toMatchObject({ amount_usd: "0.0000007", posted_usd: "0.000005", replayed: false });
  });

  test("is booked once when the same command runs several times", async () => {
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

  test("of a credit that has ended is a credit of the days that are given", async () => {
    const dayMs = 86_400_000;
    const other = await storage.newAccount("short");
    const expires = storage.clock.nowMs + dayMs;
    await runTopUp(storage, { account: "short", amount: 9_000n, id: "gift", source: "promotion", expires });
    const facts = { surface: "chat", model: "demo" };
    const outcome = { outcome: "ok", source: "reported", totalMs: 1, attempts: [] } as const;
    const charged = { walletId: other.id, chargeId: "c", keyId: "k", amount: 4_000n, facts, outcome };
    const { receiptId } = await storage.ledger.charge(charged);
    storage.clock.nowMs = expires;
    await runRefund(storage, {
      account: "short",
      receipt: receiptId,
      id: "r1",
      amount: 1_000n,
      creditDays: 3,
    });
    await runRefund(storage, { account: "short", receipt: receiptId, id: "r2" });
    const { items } = await storage.ledger.credits(other.id, { size: 10 }, { isLive: true });
    expect(items.map(({ source, left, expiresAtMs }) => [source, left, expiresAtMs])).toEqual([
      ["refund", 1_000n, expires + 3 * dayMs],
      ["refund", 3_000n, expires + 7 * dayMs],
    ]);
    const late = runRefund(storage, { account: "short", receipt: receiptId, id: "r3", creditDays: 366 });
    await expect(late).rejects.toMatchObject({ exitCode: 2 });
  });

  test("never exceeds the charge", async () => {
    await expect(refund({ id: "r", amount: 1_001n })).rejects.toMatchObject({
      code: "refund_exceeds_charge",
    });
    await refund({ id: "all" });
    await expect(refund({ id: "more" })).rejects.toThrow("Nothing is left of the charge to refund.");
    expect(await postedNow()).toBe(5_000n);
  });

  test("rejects an id that refunded another receipt", async () => {
    await refund({ id: "r" });
    receipt = await charge(2_000n);
    await expect(refund({ id: "r" })).rejects.toMatchObject({ code: "conflict" });
    expect(await postedNow()).toBe(8_000n);
  });

  test("does not find the receipt of another account", async () => {
    await storage.newAccount("other");
    await expect(refund({ id: "r", account: "other" })).rejects.toThrow("The account has no such receipt.");
    await expect(refund({ id: "r", account: "nobody" })).rejects.toThrow('There is no account "nobody".');
    expect(await postedNow()).toBe(4_000n);
  });
});

describe("topup", () => {
  test("grants a credit with a source and an end, which the wallet shows and a correction can name", async () => {
    const expires = storage.clock.nowMs + 86_400_000;
    const gift = { account: "acme", amount: 7_000n, id: "gift", source: "promotion", expires } as const;
    const { json, text } = await runTopUp(storage, gift);
    expect(json).toMatchObject({ source: "promotion", expires_at: new Date(expires).toISOString() });
    expect(text).toContain(`Topped up account acme by 0.000007 USD until ${new Date(expires).toISOString()}`);
    const cut = { account: "acme", amount: 1_000n, id: "cut", credit: receipt, reason: "r", yes: true };
    await runCorrect(storage, cut);
    const wallet = await runWallet(storage, { account: "acme" }, () => storage.clock.nowMs);
    expect(wallet.json).toMatchObject({
      credits: [
        { id: "gift", left_usd: "0.000007" },
        { id: receipt, left_usd: "0.000003" },
      ],
    });
    expect(wallet.text).toContain(
      `0.000007 USD end at ${new Date(expires).toISOString()} unless they are spent`,
    );
  });

  test("refuses an end that is past", async () => {
    const past = { account: "acme", amount: 1n, id: "x", expires: storage.clock.nowMs - 1 };
    await expect(runTopUp(storage, past)).rejects.toThrow("The credit was refused: its end is past");
  });
});
