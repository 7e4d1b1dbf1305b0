import { expect, test } from "bun:test";
import { createLedgerReader } from "../../src/app/background-state.ts";
import type { RunningTotals } from "../../src/ledger/records.ts";
import type { RollUpState } from "../../src/ledger/usage-records.ts";

const ROLL_UPS: RollUpState = { closedFromMs: 1, closedToMs: 2, staleHours: 3, isBackfilling: false };

function totals(walletId: string, count: number, oldestCreatedAtMs: number): RunningTotals {
  return { walletId, count, granted: BigInt(count), oldestCreatedAtMs };
}

test("the open holds of all wallets are added up", async () => {
  const wallets = [totals("a", 2, 500), totals("b", 3, 400)];
  const ledger = { runningTotals: async () => wallets, rollUps: async () => ROLL_UPS };
  const read = createLedgerReader({ ledger });
  expect(await read()).toMatchObject({
    holds: { count: 5, granted: 5n, oldestAtMs: 400 },
    rollUps: { closedToMs: 2, staleHours: 3 },
  });
});

test("a ledger that hangs is read once however often it is scraped, and again when it answers", async () => {
  let readings = 0;
  const hanging = Promise.withResolvers<readonly RunningTotals[]>();
  const ledger = {
    runningTotals() {
      readings += 1;
      return readings === 1 ? hanging.promise : Promise.resolve([]);
    },
    rollUps: () => Promise.reject(new Error("away")),
  };
  const read = createLedgerReader({ ledger });
  expect(await Promise.all([read(), read(), read()])).toMatchObject([
    { holds: undefined, rollUps: undefined },
    { holds: undefined },
    { holds: undefined },
  ]);
  expect(readings).toBe(1);
  hanging.resolve([totals("a", 1, 500)]);
  await hanging.promise;
  // The reading of the first scrapes ends before another begins.
  while ((await read()).holds?.count !== 0);
  expect(readings).toBeGreaterThan(1);
});
