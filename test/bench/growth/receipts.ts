import { statSync } from "node:fs";
import { createAccount } from "../../../src/accounts/accounts.ts";
import { parseUsd } from "../../../src/domain/money.ts";
import { type Contestants, startContestants } from "../contestants.ts";
import { openBenchStorage } from "../ledger/bench-storage.ts";
import { openReceiptFiller } from "./fill-receipts.ts";
import { sqlitePath } from "./keys.ts";
import { CONNECTIONS, type GrowthPlan, RECEIPT_COUNTS, RECEIPTS_FULL } from "./plan.ts";
import { type GrowthPoint, measurePoint, printCount, warmUp } from "./point.ts";

const WALLETS = 100;
const MB = 1024 * 1024;

/** Measures requests on a SQLite file with this many receipts of other accounts, and the time of an audit. */
export async function measureReceipts({ durations, isFull }: GrowthPlan): Promise<readonly GrowthPoint[]> {
  const contestants = await startContestants();
  const { gatewayProcess } = contestants;
  const path = sqlitePath(gatewayProcess.databaseUrl);
  try {
    // Also makes the receipt that the filler copies.
    await warmUp(contestants);
    const filler = openReceiptFiller(path, await createWallets(path));
    const points: GrowthPoint[] = [];
    for (const count of isFull ? [...RECEIPT_COUNTS, RECEIPTS_FULL] : RECEIPT_COUNTS) {
      console.error(`filling the ledger with ${printCount(count)} receipts`);
      filler.fillTo(count);
      const details = { "database, MB": (statSync(path).size / MB).toFixed(0) };
      const step = { step: printCount(count), connections: CONNECTIONS, details };
      const point = await measurePoint(contestants, durations, step);
      points.push({ ...point, details: { ...details, "audit, s": await auditSeconds(contestants) } });
    }
    filler.close();
    return points;
  } finally {
    await contestants.stop();
  }
}

/** Creates accounts that own the filled receipts. */
async function createWallets(path: string): Promise<readonly string[]> {
  const storage = await openBenchStorage({ dialect: "sqlite", path });
  const createOne = async (_: unknown, number: number) => {
    const { id } = await createAccount(storage, { name: `growth-${number}` });
    await storage.ledger.topUp({ walletId: id, topUpId: "seed", amount: parseUsd("1000000") });
    return id;
  };
  return Promise.all(Array.from({ length: WALLETS }, createOne)).finally(storage.close);
}

async function auditSeconds({ gatewayProcess }: Contestants): Promise<string> {
  const startMs = performance.now();
  if (!(await gatewayProcess.isAuditClean())) throw new Error("The audit found a problem");
  return ((performance.now() - startMs) / 1000).toFixed(1);
}
