import type { Contestant, Contestants, StoreName } from "./contestants.ts";
import { BENCH_KEY, type PairsResult } from "./pairs.ts";
import { type LedgerPlan, WAITING, WAITING_FEW, WALLETS_MANY } from "./plan.ts";
import { type BesideResult, fill, runBeside, runRounds } from "./rounds.ts";
import { BENCH_FUNDS, createWallets } from "./wallets.ts";

/** What one store does. Rates are hold+settle pairs a second. */
export interface StoreResult extends BesideResult {
  readonly name: StoreName;
  /** The same with a monthly spending limit on the key. */
  readonly limited: PairsResult;
  readonly many: PairsResult;
  /** Of the calm rate. */
  readonly manyByCalm: number;
  /** One wallet, few waiting. */
  readonly few: PairsResult;
  /** Over gRPC from another process. */
  readonly stream: PairsResult;
  readonly streamByCalm: number;
  /** One wallet again, without pgbench before it, whose checkpoints and vacuums outlast it. */
  readonly calm: PairsResult;
  readonly filledHolds: number;
  /** One wallet in books that are full. */
  readonly filled: PairsResult;
  readonly filledByCalm: number;
  readonly isAuditClean: boolean;
}

/** Measures a store in turn with pgbench, so that what else the machine does hits both. */
export async function measureStore(
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
