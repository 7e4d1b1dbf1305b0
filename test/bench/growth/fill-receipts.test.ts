import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { auditDatabase } from "../../../src/ledger/audit/audit.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { openBenchStorage } from "../ledger/bench-storage.ts";
import { openReceiptFiller } from "./fill-receipts.ts";

const FUNDS = 1_000_000n;
const COST = 100n;

async function createWallet(ledger: Ledger): Promise<string> {
  const walletId = Bun.randomUUIDv7();
  await ledger.createWallet(walletId);
  await ledger.topUp({ walletId, topUpId: "seed", amount: FUNDS });
  return walletId;
}

async function settleOne(ledger: Ledger): Promise<void> {
  const walletId = await createWallet(ledger);
  const holdId = Bun.randomUUIDv7();
  const facts = { surface: "chat", model: "m" } as const;
  const hold = { walletId, holdId, keyId: "k", amount: COST, minimum: COST, ttlMs: 60_000, facts };
  await ledger.hold(hold);
  const outcome = { outcome: "ok", source: "reported", usage: NO_USAGE, totalMs: 5, attempts: [] } as const;
  await ledger.settle({ walletId, holdId, amount: COST, facts: outcome });
}

/** The wallets whose filled hour must be summed up again. */
function staleHoursOf(path: string): readonly string[] {
  const client = new Database(path, { readonly: true });
  const rows = client.query<{ wallet_id: string }, []>("SELECT DISTINCT wallet_id FROM usage_stale").all();
  client.close();
  return rows.map(({ wallet_id }) => wallet_id);
}

test("filled receipts pass the audit, and their wallets have paid for them", async () => {
  const path = join(tempFolder(), "tollgate.db");
  const storage = await openBenchStorage({ dialect: "sqlite", path });
  const { ledger, database } = storage;
  await settleOne(ledger);
  const walletIds = [await createWallet(ledger), await createWallet(ledger)];

  const filler = openReceiptFiller(path, walletIds);
  filler.fillTo(20);
  filler.fillTo(60);
  filler.close();

  const audit = await auditDatabase(database, Date.now());
  expect(staleHoursOf(path).toSorted()).toEqual(walletIds.toSorted());
  expect(audit).toMatchObject({ findings: [], holds: 61, transfers: 3 + 61 });
  // The job that sums up usage may not have reached the filled hours.
  expect(audit.warnings.filter(({ invariant }) => invariant !== "U3")).toEqual([]);
  for (const walletId of walletIds) {
    expect((await ledger.wallet(walletId))?.balances.posted).toBe(FUNDS - 30n * COST);
  }
  await storage.close();
});
