// How money comes into credits: by top-ups, and back by refunds.
import { DAY_MS } from "../../domain/id-time.ts";
import { leastOf, type Nanos } from "../../domain/money.ts";
import type { RefundRequest } from "../ledger.ts";
import type { Credit } from "../records.ts";
import type { CreditPart, CreditsRead, Transfer } from "./book.ts";
import { type Declined, decline } from "./command.ts";
import { type CreditedMoney, Credits, creditsOf, debtOf, isMixedOf, withCredits } from "./credits.ts";
import type { CreditChanges } from "./spend-credits.ts";

/** The most credits of a wallet that have something left. */
const CREDITS_MAX = 1_000;
/** From so many on, a top-up adds to a credit alike: decisions take longer with many. */
const CREDITS_ALIKE = 100;

/** How long the credit of a refund can be spent whose own credit has ended, unless the refund says. */
const REFUND_LIFE_MS = 7 * DAY_MS;

type GrantedCredit = Omit<Credit, "left" | "expired" | "claims" | "endedAtMs">;

/**
 * Grants a credit, which first pays what the wallet owes. A wallet with 100 live ones adds it to one of its source and
 * end, if there is one. A wallet with 1,000 declines others with `invalid_credit`.
 */
export function grantCredit(money: CreditedMoney, granted: GrantedCredit): CreditChanges | Declined {
  const credits = creditsOf(money);
  const debt = debtOf(money.wallet, credits);
  const left = granted.amount > debt ? granted.amount - debt : 0n;
  const alike = credits.live.length < CREDITS_ALIKE ? undefined : alikeOf(credits, granted);
  if (alike) return addTo(alike, granted, left);
  if (credits.live.length >= CREDITS_MAX) return decline("invalid_credit");
  const added = { ...granted, left, expired: 0n, claims: undefined, endedAtMs: undefined };
  const changed = [...keptOf(money, credits), added];
  const { seq } = granted;
  const isMixed = isMixedOf(left > 0n ? [...credits.live, added] : credits.live, seq);
  const isPlain = debt === 0n && !isMixed;
  const parts: CreditPart[] | undefined = isPlain ? undefined : [[seq, left]];
  return { credits: changed, parts, expired: [], newest: { seq, isMixed } };
}

/** Returns the newest live credit of one source and end, so that no payment is refused because many are unspent. */
function alikeOf({ live }: CreditsRead, { source, expiresAtMs }: GrantedCredit): Credit | undefined {
  return live.findLast(
    (credit) => credit.claims === undefined && credit.source === source && credit.expiresAtMs === expiresAtMs,
  );
}

function addTo(alike: Credit, { amount }: GrantedCredit, left: Nanos): CreditChanges {
  const changed = { ...alike, amount: alike.amount + amount, left: alike.left + left };
  return { credits: [changed], parts: [[alike.seq, left]], expired: [] };
}

/** The newest credit of a wallet, whose rest no longer follows from the balance. */
function keptOf({ wallet }: CreditedMoney, credits: CreditsRead): readonly Credit[] {
  const newest = wallet.isMixed ? undefined : credits.get(wallet.newestCredit);
  return newest ? [newest] : [];
}

/** A refund, with all captures of its hold and what was refunded of them before. */
interface Returned extends Pick<RefundRequest, "refundId" | "amount" | "creditLifeMs"> {
  readonly refunded: Nanos;
  readonly captures: readonly Transfer[];
}

/**
 * Returns a refund to the credits that the charge was taken from, the last one first. What had no credit goes to the
 * newest one that never ends. Where the credit has ended, the refund grants a new one. All pay what the wallet owes first.
 * `undefined` when the balance says it all.
 */
export function returnCredits(
  money: CreditedMoney,
  returned: Returned,
  { seq, nowMs }: { readonly seq: number; readonly nowMs: number },
): CreditChanges | undefined {
  const { wallet } = money;
  if (wallet.newestCredit === 0 && !wallet.isMixed) return undefined;
  const sources = sourcesOf(money, returned);
  const isPlain = sources.every((source) => {
    const open = openCreditOf(money, source, nowMs);
    return open?.seq === wallet.newestCredit && open.expiresAtMs === undefined;
  });
  if (!wallet.isMixed && isPlain) return undefined;
  const credits = creditsOf(money);
  const changed = new Credits(keptOf(money, credits));
  const parts: CreditPart[] = [];
  const isEndless = sources.some(({ credit }) => !credit);
  let debt = debtOf(wallet, credits);
  for (const source of sources) {
    const paid = leastOf(debt, source.amount);
    debt -= paid;
    const amount = source.amount - paid;
    if (amount === 0n) continue;
    const open = openCreditOf(money, source, nowMs);
    const present = changed.get(open?.seq ?? seq) ?? (open && (credits.get(open.seq) ?? open));
    const credit = present ?? newCreditOf(returned, { seq, nowMs, isEndless });
    const granted = open ? credit.amount : credit.amount + amount;
    changed.set({ ...credit, amount: granted, left: credit.left + amount });
    parts.push([credit.seq, amount]);
  }
  const newest = changed.get(seq) ? seq : wallet.newestCredit;
  const isMixed = isMixedOf(withCredits(credits, changed).live, newest);
  return { credits: [...changed], parts, expired: [], newest: { seq: newest, isMixed } };
}

/** A part of a refund, and the credit that it was taken from; `undefined` for what no credit covered. */
interface Source {
  readonly credit: Credit | undefined;
  readonly amount: Nanos;
}

/** Returns where the refunded part of a hold's captures came from, the last part first. */
function sourcesOf({ credits }: CreditedMoney, { captures, refunded, amount }: Returned): readonly Source[] {
  const taken = captures
    .toSorted((one, other) => other.seq - one.seq)
    .flatMap((each) => partsOf(credits, each));
  const sources: Source[] = [];
  let skipped = refunded;
  let rest = amount;
  for (const { credit, amount: part } of taken) {
    const before = leastOf(part, skipped);
    skipped -= before;
    const free = part - before;
    const back = leastOf(free, rest);
    if (back > 0n) sources.push({ credit, amount: back });
    rest -= back;
  }
  return rest > 0n ? [...sources, { credit: undefined, amount: rest }] : sources;
}

/** Returns what a capture was taken from, the last part first. */
function partsOf(credits: CreditedMoney["credits"], capture: Transfer): readonly Source[] {
  if (!capture.credits) return [{ credit: newestBefore(credits, capture.seq), amount: capture.amount }];
  const covered = capture.credits.map(([seq, amount]) => ({ credit: credits.get(seq), amount })).reverse();
  const debt = covered.reduce((rest, { amount }) => rest - amount, capture.amount);
  return debt > 0n ? [{ credit: undefined, amount: debt }, ...covered] : covered;
}

/** The credit of a capture that names none: the newest one before it, unless that ends and so had nothing left. */
function newestBefore(credits: CreditedMoney["credits"], seq: number): Credit | undefined {
  const newest = credits.newestBefore(seq);
  return newest?.expiresAtMs === undefined ? newest : undefined;
}

/** Returns the credit that a part of a refund goes to; `undefined` where it needs a new one. */
function openCreditOf(
  { wallet, credits }: CreditedMoney,
  { credit }: Source,
  nowMs: number,
): Credit | undefined {
  if (credit) return hasEnded(credit, nowMs) ? undefined : credit;
  const newest = credits.get(wallet.newestCredit);
  return newest?.expiresAtMs === undefined ? newest : undefined;
}

function hasEnded({ claims, expiresAtMs }: Credit, nowMs: number): boolean {
  return claims !== undefined || (expiresAtMs !== undefined && expiresAtMs <= nowMs);
}

function newCreditOf(
  { refundId, creditLifeMs = REFUND_LIFE_MS }: Returned,
  { seq, nowMs, isEndless }: { readonly seq: number; readonly nowMs: number; readonly isEndless: boolean },
): Credit {
  const granted = { seq, creditId: refundId, source: "refund", amount: 0n, left: 0n, expired: 0n } as const;
  const expiresAtMs = isEndless ? undefined : nowMs + creditLifeMs;
  return { ...granted, expiresAtMs, createdAtMs: nowMs, claims: undefined, endedAtMs: undefined };
}
