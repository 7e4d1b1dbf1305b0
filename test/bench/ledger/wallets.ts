import type { Ledger } from "../../../src/ledger/ledger.ts";

/** Nano-USD that every wallet has. */
export const BENCH_FUNDS = 10n ** 15n;

/** Creates so many wallets with money for every round. */
export async function createWallets(ledger: Ledger, count: number): Promise<readonly string[]> {
  const walletIds = Array.from({ length: count }, () => Bun.randomUUIDv7());
  await Promise.all(
    walletIds.map(async (walletId) => {
      await ledger.createWallet(walletId);
      await ledger.topUp({ walletId, topUpId: "bench", amount: BENCH_FUNDS });
    }),
  );
  return walletIds;
}
