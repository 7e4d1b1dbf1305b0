import { CreditModel } from "../ledger/credit-model.ts";

/** A line that a statement must have. */
export interface ReckonedLine {
  readonly seq: number;
  readonly atMs: number;
  readonly kind: string;
  readonly id: string;
  readonly holdId: string | undefined;
  readonly amount: bigint;
  readonly balance: bigint;
}

/** What a movement says of itself: its ends of credits are reckoned. */
export interface Movement extends Pick<ReckonedLine, "kind" | "id" | "amount"> {
  readonly holdId?: string;
}

type Lot = CreditModel["lots"][number];

const SOURCES = ["promotion", "plan", "refund", "adjustment", "purchase"];

/** The journal of one wallet, reckoned line by line beside its credits. */
export class WalletBook {
  readonly money = new CreditModel();
  readonly lines: ReckonedLine[] = [];
  readonly #seqOf = new Map<string, number>();

  get balance(): bigint {
    return this.lines.at(-1)?.balance ?? 0n;
  }

  availableAt(nowMs: number): bigint {
    return this.money.viewAt(nowMs).available;
  }

  /** Books the ends of credits that have come. */
  end(atMs: number): void {
    this.#withEnds(atMs, () => this.money.end(atMs));
  }

  /** Books a movement after the ends that have come, and before those that it brings. */
  move(atMs: number, { kind, id, holdId, amount }: Movement, act: () => void): void {
    this.end(atMs);
    this.#withEnds(atMs, () => {
      act();
      if (amount !== 0n) this.#add({ atMs, kind, id, holdId, amount });
    });
  }

  #withEnds(atMs: number, act: () => void): void {
    const before = new Map(this.money.lots.map((lot) => [lot, lot.expired]));
    act();
    const ended = this.money.lots.filter((lot) => lot.expired > (before.get(lot) ?? 0n));
    for (const lot of ended.sort(compare)) {
      const amount = (before.get(lot) ?? 0n) - lot.expired;
      const id = `expiry-${this.#seqOf.get(lot.id)}-${this.lines.length + 1}`;
      this.#add({ atMs, kind: "credit_expiry", id, holdId: undefined, amount });
    }
  }

  #add(line: Omit<ReckonedLine, "seq" | "balance">): void {
    const seq = this.lines.length + 1;
    this.lines.push({ ...line, seq, balance: this.balance + line.amount });
    this.#seqOf.set(line.id, seq);
  }
}

/** The order in which ends are booked: the earliest first, then the order of spending. */
function compare(one: Lot, other: Lot): number {
  const [place, otherPlace] = [one.endPlace ?? 0, other.endPlace ?? 0];
  return (
    place - otherPlace || one.ends - other.ends || SOURCES.indexOf(one.source) - SOURCES.indexOf(other.source)
  );
}
