import { beforeEach, expect, test } from "bun:test";
import { runAccountResume, runAccountSuspend } from "../../src/cli/account.ts";
import { runTopUp } from "../../src/cli/money.ts";
import { storageForTests } from "../accounts/temp-storage.ts";

const storage = storageForTests();
beforeEach(async () => {
  await storage.newAccount("acme");
});

const entries = async () => storage.database.db.select().from(storage.database.tables.auditEntries);

test("account suspend and resume change account and wallet, and are recorded as the command line's", async () => {
  const suspended = await runAccountSuspend(storage, { account: "acme", reason: "unpaid" });
  expect(suspended.json).toMatchObject({ name: "acme", state: "suspended" });
  expect((await storage.ledger.wallets({ size: 1 })).items[0]?.state).toBe("frozen");
  const resumed = await runAccountResume(storage, { account: "acme", reason: "paid" });
  expect(resumed.json).toMatchObject({ state: "active" });
  expect((await storage.ledger.wallets({ size: 1 })).items[0]?.state).toBe("active");
  const recorded = (await entries()).filter(({ action }) => action !== "account.created");
  expect(recorded.map(({ actorKind, after }) => [actorKind, JSON.parse(after ?? "").reason])).toEqual([
    ["command_line", "unpaid"],
    ["command_line", "paid"],
  ]);
});

test("an unknown account can be neither suspended nor resumed", async () => {
  for (const run of [runAccountSuspend, runAccountResume]) {
    await expect(run(storage, { account: "nobody", reason: "x" })).rejects.toThrow(
      'There is no account "nobody"',
    );
  }
});

test("a top-up by the command line is in the audit trail, once", async () => {
  await runTopUp(storage, { account: "acme", amount: 5_000n, id: "invoice-1" });
  await runTopUp(storage, { account: "acme", amount: 5_000n, id: "invoice-1" });
  const recorded = (await entries()).filter(({ action }) => action === "wallet.topped_up");
  expect(recorded).toHaveLength(1);
  expect(recorded[0]).toMatchObject({ actorKind: "command_line", target: "invoice-1" });
});
