import type { Nanos } from "../domain/money.ts";
import { type Ledger, LedgerError } from "../ledger/ledger.ts";
import { type JournalTotals, pagesOf, type WalletSummary } from "../ledger/records.ts";
import { platform } from "../platform.ts";

/** Whether the rows of a wallet add up to its balances. */
export interface WalletProof {
  readonly totals: JournalTotals;
  /** `toppedUp − charged + refunded − expired`. */
  readonly computedPosted: Nanos;
  /** The balance after the last of these transfers. */
  readonly posted: Nanos;
  /** Open holds, and their sum. */
  readonly openHolds: number;
  readonly heldSum: Nanos;
  readonly held: Nanos;
  /** The wallet changed too often for its holds to be compared: `isProven` is about the transfers alone. */
  readonly isBusy: boolean;
  readonly isProven: boolean;
}

type ProofReads = Pick<Ledger, "wallet" | "runningTotals" | "journalTotals" | "transfers">;

/** How often the holds are read while they change in between. */
const ATTEMPTS_MAX = 20;
const PAUSE_MS_MAX = 10;

/** Adds up every transfer and every open hold of a wallet. Rejects with `wallet_not_found`. */
export async function proveWallet(ledger: ProofReads, walletId: string): Promise<WalletProof> {
  const posted = await provePosted(ledger, walletId);
  const holds = await proveHolds(ledger, walletId);
  const isProven = posted.computedPosted === posted.posted && (holds.isBusy || holds.heldSum === holds.held);
  return { ...posted, ...holds, isProven };
}

/** Transfers are numbered without gaps, so that their count names the last one that was added up. */
async function provePosted(ledger: ProofReads, walletId: string) {
  const totals = await ledger.journalTotals(walletId);
  const computedPosted = totals.toppedUp - totals.charged + totals.refunded - totals.expired;
  return { totals, computedPosted, posted: await postedAfter(ledger, walletId, totals.transfers) };
}

async function postedAfter(ledger: ProofReads, walletId: string, seq: number): Promise<Nanos> {
  for await (const { items } of pagesOf((token) => ledger.transfers(walletId, { size: 100, token }))) {
    const found = items.find((line) => line.seq <= seq);
    if (found) return found.postedAfter;
  }
  return 0n;
}

/**
 * Compares the open holds with their sum in the wallet. They are two reads, so that a hold in between makes them
 * differ: only a difference that is the same at every attempt is a fault.
 */
async function proveHolds(ledger: ProofReads, walletId: string) {
  const differences = new Set<Nanos>();
  for (let attempt = 1; ; attempt += 1) {
    const [{ balances }, [running]] = await Promise.all([
      requireWallet(ledger, walletId),
      ledger.runningTotals(walletId),
    ]);
    const heldSum = running?.granted ?? 0n;
    const compared = { openHolds: running?.count ?? 0, heldSum, held: balances.held };
    differences.add(balances.held - heldSum);
    if (heldSum === balances.held) return { ...compared, isBusy: false };
    if (attempt === ATTEMPTS_MAX) return { ...compared, isBusy: differences.size > 1 };
    await platform.sleep(platform.random() * PAUSE_MS_MAX);
  }
}

async function requireWallet(ledger: ProofReads, walletId: string): Promise<WalletSummary> {
  const wallet = await ledger.wallet(walletId);
  if (!wallet) throw new LedgerError("wallet_not_found");
  return wallet;
}
