import type { LocalLedger } from "../../../src/ledger/engine/local.ts";
import { type Balances, type Credit, readToEnd } from "../../../src/ledger/records.ts";
import { Violation } from "../model.ts";
import type { World } from "../world.ts";

/** A row of the journal: what expired of one credit. */
interface ExpiredRow {
  readonly credit: bigint;
  readonly amount: bigint;
}

const EXPIRED = `SELECT CAST(credits ->> '$[0][0]' AS INTEGER) AS credit, sum(amount) AS amount FROM transfers
  WHERE wallet_id = ? AND kind = 7 GROUP BY 1`;

/** Checks when nothing runs that the credits of each wallet, its balances and its journal are as reckoned. */
export async function checkCredits({ credits, watch, scheduler }: World, ledger: LocalLedger): Promise<void> {
  if (watch) credits.rewind(watch.client);
  for (const [walletId, wallet] of credits.wallets) {
    const { available, lots } = wallet.viewAt(scheduler.wallMs());
    const stored = await readCredits(ledger, walletId);
    const shown = stored.map(({ creditId: id, left, expired, amount }) => ({ id, left, expired, amount }));
    if (!Bun.deepEquals(shown, lots))
      throw new Violation(`wallet ${walletId} has the credits ${print(shown)}, not ${print(lots)}`);
    const balances = await ledger.balances(walletId);
    if (balances.available !== available)
      throw new Violation(`wallet ${walletId} shows ${balances.available} as available, not ${available}`);
    requireSums(walletId, balances, stored);
    const totals = await ledger.journalTotals(walletId);
    const booked = wallet.lots.reduce((sum, { expired }) => sum + expired, 0n);
    if (totals.expired !== booked)
      throw new Violation(`of wallet ${walletId} ${totals.expired} have expired, not ${booked}`);
    const rows = watch?.client.query<ExpiredRow, [string]>(EXPIRED).safeIntegers(true).all(walletId) ?? [];
    const ids = new Map(stored.map(({ seq, creditId }) => [seq, creditId]));
    for (const { credit, amount } of rows) {
      const lot = wallet.lots.find(({ id }) => id === ids.get(Number(credit)));
      if (lot?.expired !== amount)
        throw new Violation(`the journal of wallet ${walletId} has ${amount} expired of credit ${lot?.id}`);
    }
  }
}

/** Checks while requests run that what a reader sees as available counts nothing that has ended. */
export async function checkAvailable(world: World, walletId: string): Promise<void> {
  const { credits, scheduler, model } = world;
  const ledger = world.ledger ? world.ledger.machine && world.ledger.local : world.alive()[0]?.local;
  const wallet = credits.wallets.get(walletId);
  if (!ledger || !wallet || credits.mayHaveLost) return;
  const { available } = wallet.viewAt(scheduler.wallMs());
  const balances = await ledger.balances(walletId);
  if (balances.available !== available)
    model.report(`wallet ${walletId} shows ${balances.available} as available, not ${available}`);
}

/** What is left of all credits is what is posted and what is owed. */
function requireSums(walletId: string, { available, held }: Balances, credits: readonly Credit[]): void {
  // The end of a credit may not be booked yet, in what is posted.
  const posted = available + held;
  const left = credits.reduce((sum, credit) => sum + credit.left, 0n);
  if (left < posted || (posted >= 0n && held === 0n && left !== posted))
    throw new Violation(`wallet ${walletId} has ${posted}, and its credits come to ${left}`);
}

function readCredits(ledger: LocalLedger, walletId: string): Promise<readonly Credit[]> {
  return readToEnd((token) => ledger.credits(walletId, { size: 100, token }));
}

function print(lots: unknown): string {
  return JSON.stringify(lots, (_, value) => (typeof value === "bigint" ? String(value) : value));
}
