import { type ListOrder, pageRanked } from "../accounts/ranked-page.ts";
import { CREDIT_SOURCES } from "../domain/credit.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Credit, PAGE_SIZE_MAX, pagesOf } from "../ledger/records.ts";

/** What the credits of a wallet are ordered by. */
export const CREDIT_ORDERS = ["left", "amount", "expired", "ends", "created"] as const;
type CreditOrder = (typeof CREDIT_ORDERS)[number];

/** The newest credits of a wallet that are searched and ordered. */
const SEARCHED_MAX = 5_000;

interface CreditSearch {
  /** Only those with something left. */
  readonly isLive: boolean;
  /** Part of an id or a source, in any case. */
  readonly text?: string | undefined;
  /** Default: as the ledger lists them. */
  readonly order?: ListOrder<CreditOrder> | undefined;
  readonly token?: string | undefined;
  readonly size: number;
}

/** Finds credits of a wallet among its newest 5,000, or its live ones. What is left of one is known to its reader alone: no column has it. */
export async function findCredits(
  ledger: Pick<Ledger, "credits">,
  walletId: string,
  { isLive, text = "", order, token, size }: CreditSearch,
): Promise<{ readonly items: readonly Credit[]; readonly next: string | null }> {
  const sought = text.toLowerCase();
  const found = new Map<string, Credit>();
  let read = 0;
  for await (const { items } of pagesOf((page) =>
    ledger.credits(walletId, { size: PAGE_SIZE_MAX, token: page }, { isLive }),
  )) {
    for (const credit of items) {
      const isFound = `${credit.creditId}\n${credit.source}`.toLowerCase().includes(sought);
      if (isFound) found.set(String(credit.seq), credit);
    }
    read += PAGE_SIZE_MAX;
    if (read >= SEARCHED_MAX) break;
  }
  const ranked = [...found].map(([id, credit]) => ({
    id,
    value: order ? figureOf(credit, order) : isLive ? turnOf(credit) : BigInt(-credit.seq),
  }));
  const { ids, next } = pageRanked(ranked, { order, token, size });
  return { items: ids.flatMap((id) => found.get(id) ?? []), next };
}

const NEVER_MS = 2n ** 63n;

/** A text that orders live credits as they are spent: the ended ones, the first end, the source, the oldest. */
function turnOf({ endedAtMs, expiresAtMs, source, seq }: Credit): string {
  const turn = [endedAtMs ?? NEVER_MS, expiresAtMs ?? NEVER_MS, CREDIT_SOURCES.indexOf(source), seq];
  return turn.map((each) => String(each).padStart(19, "0")).join(" ");
}

/** Credits without an end come last. */
function figureOf(credit: Credit, { by, isDescending }: ListOrder<CreditOrder>): bigint {
  if (by === "created") return BigInt(credit.createdAtMs);
  if (by !== "ends") return credit[by];
  return credit.expiresAtMs === undefined ? (isDescending ? -1n : NEVER_MS) : BigInt(credit.expiresAtMs);
}
