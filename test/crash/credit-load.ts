import { CREDIT_SOURCES } from "../../src/domain/credit.ts";
import { type Ledger, LedgerError, type LedgerErrorCode } from "../../src/ledger/ledger.ts";
import type { Recorder } from "./recorder.ts";
import { retry } from "./retry.ts";

/** What a wallet of credits was told over gRPC. */
export interface CreditedWallet {
  readonly walletId: string;
  /** The amounts that were granted, by the ids of their credits. */
  readonly granted: ReadonlyMap<string, bigint>;
  /** What its holds were settled with. */
  readonly charged: bigint;
}

export interface CreditLoad {
  /** Resolves when every submitted command is answered. */
  stop(): Promise<CreditedWallet>;
}

const CREDITS = 20;
const WORKERS = 4;
/** The ends of credits: while processes are killed. */
const LIFE_MS = { least: 300, most: 5_000 };
const AMOUNT = 3_000_000n;
const OUTCOME = { outcome: "ok", source: "reported", attempts: [] } as const;

/** Starts workers that spend a new wallet, most of whose credits end meanwhile. */
export function startCreditLoad(ledger: Ledger, recorder: Recorder): CreditLoad {
  const walletId = `credits-${Bun.randomUUIDv7()}`;
  const granted = new Map<string, bigint>();
  let [charged, isStopped] = [0n, false];

  const grantAll = async () => {
    await retry(() => ledger.createWallet(walletId));
    for (let number = 0; number <= CREDITS && !isStopped; number++) {
      const topUpId = `credit-${number}`;
      const source = CREDIT_SOURCES[number % CREDIT_SOURCES.length];
      const lifeMs = LIFE_MS.least + Math.random() * (LIFE_MS.most - LIFE_MS.least);
      const expiresAtMs = number === 0 ? undefined : Math.floor(Date.now() + lifeMs);
      const grant = () => ledger.topUp({ walletId, topUpId, amount: AMOUNT, source, expiresAtMs });
      // A process that was away for long finds the end in the past.
      if (await isDone(grant, ["invalid_credit"])) granted.set(topUpId, AMOUNT);
    }
  };
  const spend = async (worker: number) => {
    for (let round = 0; !isStopped; round++) {
      const holdId = Bun.randomUUIDv7();
      const amount = BigInt(worker * 31 + round) * 1_000n + 50_000n;
      const facts = { surface: "grpc", model: "" };
      const request = { walletId, holdId, keyId: "service", amount, minimum: amount, ttlMs: 60_000, facts };
      if (await isDone(() => ledger.hold(request), ["insufficient_balance", "balance_on_hold"])) {
        await Bun.sleep(Math.random() * 400);
        await retry(() => ledger.settle({ walletId, holdId, amount: amount / 2n, facts: OUTCOME }));
        charged += amount / 2n;
        await recorder.record(`settled ${holdId} ${amount / 2n}`);
      } else await Bun.sleep(20);
    }
  };
  const all = grantAll().then(() =>
    Promise.all(Array.from({ length: WORKERS }, (_, worker) => spend(worker))),
  );
  // `stop` rejects with a failure; until then it must not count as unhandled.
  all.catch(() => undefined);
  return {
    async stop() {
      isStopped = true;
      await all;
      return { walletId, granted, charged };
    },
  };
}

/** Whether a command was applied, and not declined as expected. */
async function isDone(
  submit: () => Promise<unknown>,
  expected: readonly LedgerErrorCode[],
): Promise<boolean> {
  try {
    await retry(submit);
    return true;
  } catch (error) {
    if (error instanceof LedgerError && expected.includes(error.code)) return false;
    throw error;
  }
}

/** Throws unless a wallet, whose ends have all come, has what was granted less what was charged and what has expired. */
export async function verifyCredits(ledger: Ledger, told: CreditedWallet): Promise<void> {
  const { walletId, granted, charged } = told;
  const { items } = await ledger.credits(walletId, { size: 100 });
  const { posted, held, available } = await ledger.balances(walletId);
  const totals = await ledger.journalTotals(walletId);
  const sum = (amounts: Iterable<bigint>) => [...amounts].reduce((total, amount) => total + amount, 0n);
  const [left, expired] = [sum(items.map((each) => each.left)), sum(items.map((each) => each.expired))];
  const require = (isTrue: boolean, claim: string) => {
    if (!isTrue) throw new Error(`Wallet ${walletId}: ${claim}`);
  };
  for (const [creditId, amount] of granted)
    require(items.some(
      (each) => each.creditId === creditId && each.amount === amount,
    ), `${creditId} is lost`);
  require(items.length === granted.size, `it has ${items.length} credits, and ${granted.size} were granted`);
  require(items.every(
    ({ expiresAtMs, left: rest }) => expiresAtMs === undefined || rest === 0n,
  ), "a credit is left after its end");
  require(held === 0n &&
    left === posted &&
    posted === available, `it has ${posted}, and its credits ${left}`);
  require(totals.charged === charged, `${totals.charged} were charged, not ${charged}`);
  require(totals.expired === expired, `${totals.expired} have expired, and of its credits ${expired}`);
  require(sum(granted.values()) - charged - expired === posted, `its journal does not come to ${posted}`);
}
