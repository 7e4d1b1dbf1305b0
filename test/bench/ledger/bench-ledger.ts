import { type Contestant, type Contestants, type StoreName, startContestants } from "./contestants.ts";
import {
  BENCH_FUNDS,
  BENCH_KEY,
  type BesideResult,
  createWallets,
  fill,
  type PairsResult,
  runBeside,
  runRounds,
} from "./hold-settle-load.ts";
import { type LedgerPlan, readLedgerPlan, WAITING, WAITING_FEW, WALLETS_MANY } from "./plan.ts";
import { type LedgerReport, printLedgerReport } from "./report.ts";

/**
 * `bun run bench ledger [--quick] [--json]`: measures the ledger on each storage beside pgbench on the same
 * machine.
 */
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

/** The results of one storage. Rates are pairs of hold and settle per second. */
export interface StoreResult extends BesideResult {
  readonly name: StoreName;
  /** One wallet with a monthly spending limit on the key. */
  readonly limited: PairsResult;
  readonly many: PairsResult;
  /** Ratio to the calm rate. */
  readonly manyByCalm: number;
  /** One wallet with few waiting commands. */
  readonly few: PairsResult;
  /** Over gRPC from another process. */
  readonly stream: PairsResult;
  readonly streamByCalm: number;
  /** One wallet without pgbench, whose checkpoints and vacuums outlast its run. */
  readonly calm: PairsResult;
  readonly filledHolds: number;
  /** One wallet in a filled ledger. */
  readonly filled: PairsResult;
  readonly filledByCalm: number;
  readonly isAuditClean: boolean;
}

/** Measures a storage alternately with pgbench, so that other load of the machine affects both. */
async function measureStore(
  store: Contestant,
  { pgbench }: Contestants,
  plan: LedgerPlan,
): Promise<StoreResult> {
  const { ledger } = store;
  const [hotWallet = "", limitedWallet = "", ...many] = await createWallets(ledger, WALLETS_MANY + 2);
  const limit = { limitId: "bench", keyId: BENCH_KEY, period: "month", amount: BENCH_FUNDS } as const;
  await ledger.setSpendLimit({ walletId: limitedWallet, ...limit });
  const hotLoad = { walletIds: [hotWallet], waiting: WAITING };

  const beside = await runBeside(ledger, hotLoad, { pgbench, plan });
  const limited = await runRounds(ledger, { walletIds: [limitedWallet], waiting: WAITING }, plan);
  const manyWallets = await runRounds(ledger, { walletIds: many, waiting: WAITING }, plan);
  const few = await runRounds(ledger, { walletIds: [hotWallet], waiting: WAITING_FEW }, plan);
  const remote = await store.openRemote();
  const stream = await runRounds(remote.ledger, hotLoad, plan).finally(remote.stop);
  const calm = await runRounds(ledger, hotLoad, plan);
  await fill(ledger, [hotWallet, ...many], plan.filledHolds);
  const filled = await runRounds(ledger, hotLoad, plan);
  return {
    name: store.name,
    ...beside,
    limited,
    many: manyWallets,
    manyByCalm: manyWallets.perSecond / calm.perSecond,
    few,
    stream,
    streamByCalm: stream.perSecond / calm.perSecond,
    calm,
    filledHolds: plan.filledHolds,
    filled,
    filledByCalm: filled.perSecond / calm.perSecond,
    isAuditClean: await store.isAuditClean(),
  };
}
