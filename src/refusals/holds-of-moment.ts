import type { Ledger } from "../ledger/ledger.ts";
import type { Receipt } from "../ledger/records.ts";

/** A hold that was open at a moment. */
type OpenHold = Pick<Receipt, "holdId" | "granted">;

interface Moment {
  readonly walletId: string;
  /** `undefined` selects the holds of all keys. */
  readonly keyId: string | undefined;
  /** Unix milliseconds. */
  readonly atMs: number;
}

/** Older holds are found only while they are still open. */
const LOOK_BACK_MS = 3_600_000;
const PAGE_SIZE = 500;
const PAGES_MAX = 4;
const HOLDS_MAX = 20;

/**
 * Finds the holds that were open at a moment, the largest 20, from the receipts of the hour before it and from
 * the holds that are still open. A wallet with more than 2,000 requests in that hour shows the latest ones.
 */
export async function findHoldsOf(ledger: Ledger, moment: Moment): Promise<readonly OpenHold[]> {
  const holds = new Map<string, OpenHold>();
  for (const hold of await listEnded(ledger, moment)) holds.set(hold.holdId, hold);
  for (const hold of await listRunning(ledger, moment)) holds.set(hold.holdId, hold);
  return [...holds.values()]
    .toSorted((one, other) => Number(other.granted - one.granted))
    .slice(0, HOLDS_MAX);
}

async function listEnded(ledger: Ledger, { walletId, keyId, atMs }: Moment): Promise<readonly OpenHold[]> {
  const filter = { walletId, keyId, fromMs: Math.max(atMs - LOOK_BACK_MS, 0), toMs: atMs + 1 };
  const found: OpenHold[] = [];
  let token: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { items, nextToken } = await ledger.receipts(filter, { size: PAGE_SIZE, token });
    for (const { holdId, granted, createdAtMs, resolvedAtMs = Infinity } of items) {
      if (createdAtMs <= atMs && resolvedAtMs > atMs && granted > 0n) found.push({ holdId, granted });
    }
    token = nextToken;
    if (token === undefined) break;
  }
  return found;
}

async function listRunning(ledger: Ledger, { walletId, keyId, atMs }: Moment): Promise<readonly OpenHold[]> {
  const { items } = await ledger.runningHolds(walletId, { size: PAGE_SIZE });
  return items.filter((hold) => hold.createdAtMs <= atMs && (keyId === undefined || hold.keyId === keyId));
}
