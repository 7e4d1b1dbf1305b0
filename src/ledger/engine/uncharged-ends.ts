import type { WorkingBook } from "../core/working-book.ts";

/** A receipt that ended, or whose end changed, without a transfer. The journal does not show it. */
export interface UnchargedEnd {
  readonly walletId: string;
  readonly holdId: string;
}

/** Returns the receipts that a batch ends without a transfer, for the exports of usage. */
export function unchargedEndsOf(books: ReadonlyMap<string, WorkingBook>): readonly UnchargedEnd[] {
  const ends: UnchargedEnd[] = [];
  for (const [walletId, { writeSet }] of books) {
    if (writeSet.resolutions.size === 0) continue;
    const charged = new Set(writeSet.transfers.map(({ holdId }) => holdId));
    for (const holdId of writeSet.resolutions.keys()) {
      if (!charged.has(holdId)) ends.push({ walletId, holdId });
    }
  }
  return ends;
}
