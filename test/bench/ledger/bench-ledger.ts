import { startContestants } from "./contestants.ts";
import { measureStore, type StoreResult } from "./measure.ts";
import { readLedgerPlan } from "./plan.ts";
import { type LedgerReport, printLedgerReport } from "./report.ts";

/** `bun run bench ledger [--quick] [--json]`: the ledger on each store beside pgbench on the same machine. */
export async function benchLedger(args: readonly string[]): Promise<void> {
  const plan = readLedgerPlan(args);
  const contestants = await startContestants();
  try {
    const fsyncsPerSecond = contestants.fsyncRate(plan.roundMs);
    const stores: StoreResult[] = [];
    for (const store of contestants.stores) {
      console.error(`measuring ${store.name}, for some minutes unless --quick`);
      stores.push(await measureStore(store, contestants, plan));
    }
    const report: LedgerReport = { fsyncsPerSecond, stores };
    console.log(plan.printsJson ? JSON.stringify(report) : printLedgerReport(report));
    process.exitCode = stores.every(({ isAuditClean }) => isAuditClean) ? 0 : 1;
  } finally {
    await contestants.stop();
  }
}
