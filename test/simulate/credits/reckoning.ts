import type { Database } from "bun:sqlite";
import type { Changes, Hold } from "../../../src/ledger/core/book.ts";
import type { Command, CommandResult, Decision } from "../../../src/ledger/core/command.ts";
import type { WorkingBook } from "../../../src/ledger/core/working-book.ts";
import { CreditModel } from "../../ledger/credit-model.ts";

/** A decision of a ledger. */
export interface Step {
  readonly command: Command;
  /** Whether a hold was declined because too little was available. */
  readonly isRefused: boolean;
  /** Holds as the decision left them, in its order. */
  readonly holds: readonly Pick<Hold, "holdId" | "state" | "granted" | "captured">[];
  readonly nowMs: number;
  readonly mark: Mark | undefined;
}

/** A row that shows whether a decision is stored; `undefined` for a decision without money. */
type Mark = readonly [sql: string, ...values: readonly (string | number)[]];

const REFUSALS: readonly (string | undefined)[] = ["insufficient_balance", "balance_on_hold"];

export function stepOf(command: Command, decision: Decision<CommandResult>, nowMs: number): Step {
  const changes = "changes" in decision ? decision.changes : undefined;
  const isRefused = "declined" in decision && REFUSALS.includes(decision.declined);
  const holds = (changes?.holds ?? []).map(({ holdId, state, granted, captured }) => ({
    holdId,
    state,
    granted,
    captured,
  }));
  return { command, isRefused, holds, nowMs, mark: changes && markOf(command, changes) };
}

function markOf({ kind, request: { walletId } }: Command, changes: Changes): Mark | undefined {
  const transfer = changes.transfers?.at(-1);
  if (transfer) {
    const { seq, transferId } = transfer;
    return [
      "SELECT 1 FROM transfers WHERE wallet_id = ? AND seq = ? AND transfer_id = ?",
      walletId,
      seq,
      transferId,
    ];
  }
  const hold = changes.holds?.at(-1);
  if (hold && kind !== "extend")
    return ["SELECT 1 FROM holds WHERE hold_id = ? AND ? IN ('held', state)", hold.holdId, hold.state];
  const ended = changes.credits?.find(({ endedAtMs }) => endedAtMs !== undefined);
  if (ended?.endedAtMs === undefined) return undefined;
  const { seq, endedAtMs } = ended;
  return [
    "SELECT 1 FROM credits WHERE wallet_id = ? AND seq = ? AND ended_at_ms = ?",
    walletId,
    seq,
    endedAtMs,
  ];
}

/**
 * Reckons the credits of every wallet from the decisions of all ledgers in the order of their commits, apart from the
 * program's rules. A broken rule is reported, as it is found inside of the simulated program.
 */
export class CreditReckoning {
  readonly #report: (claim: string) => void;
  readonly #wallets = new Map<string, CreditModel>();
  readonly #overdrawn = new Map<string, bigint>();
  /** The decisions of each commit so far. */
  readonly #commits: (readonly Step[])[] = [];
  #isPowerLost = false;

  constructor(report: (claim: string) => void) {
    this.#report = report;
  }

  get wallets(): ReadonlyMap<string, CreditModel> {
    return this.#wallets;
  }

  /** What corrections have taken from a wallet although its holds needed it. */
  overdrawn(walletId: string): bigint {
    return this.#overdrawn.get(walletId) ?? 0n;
  }

  /** Whether commits may have been lost that are still reckoned with. */
  get mayHaveLost(): boolean {
    return this.#isPowerLost;
  }

  /** What has expired of a wallet, as far as it is booked. */
  expired(walletId: string): bigint {
    const lots = this.#wallets.get(walletId)?.lots ?? [];
    return lots.reduce((sum, { expired }) => sum + expired, 0n);
  }

  /** Must be called when commits may have been lost. */
  losePower(): void {
    this.#isPowerLost = true;
  }

  /** Forgets the commits that a loss of power has taken. Those that are left came before them. */
  rewind(client: Database): void {
    if (!this.#isPowerLost) return;
    this.#isPowerLost = false;
    const isKept = ({ mark }: Step) => {
      const [sql = "", ...values] = mark ?? [];
      return client.query<object, (string | number)[]>(sql).get(...values) !== null;
    };
    const last = this.#commits.findLastIndex((steps) => isKept(lastMarked(steps)));
    const kept = this.#commits.slice(0, last + 1);
    this.#commits.length = 0;
    this.#wallets.clear();
    this.#overdrawn.clear();
    for (const steps of kept) this.#reckon(steps);
  }

  /** Reckons what was committed, and compares each wallet with its book. */
  commit(steps: readonly Step[], books: ReadonlyMap<string, WorkingBook>): void {
    if (!this.#reckon(steps)) return;
    for (const [walletId, book] of books) this.#compare(walletId, book);
  }

  /** Returns whether any of it was about money. */
  #reckon(steps: readonly Step[]): boolean {
    for (const step of steps) {
      if (step.isRefused) this.#refuse(step);
      else if (step.mark) this.#take(step);
    }
    const marked = steps.filter(({ mark }) => mark !== undefined);
    if (marked.length > 0) this.#commits.push(marked);
    return marked.length > 0;
  }

  /** A hold may be declined for what is available only when it does not fit. */
  #refuse({ command, nowMs }: Step): void {
    if (command.kind !== "hold") return;
    const { walletId, holdId, minimum } = command.request;
    const available = this.#wallets.get(walletId)?.viewAt(nowMs).available ?? 0n;
    if (minimum <= available)
      this.#report(`hold ${holdId} of wallet ${walletId} needs ${minimum}, and ${available} are available`);
  }

  #take({ command, holds, nowMs }: Step): void {
    const { walletId } = command.request;
    const wallet = this.#wallets.get(walletId) ?? new CreditModel();
    this.#wallets.set(walletId, wallet);
    if (command.kind === "top_up") this.#topUp(wallet, command.request, nowMs);
    else if (command.kind === "refund") {
      const { holdId, refundId, amount, creditLifeMs } = command.request;
      wallet.refund(holdId, refundId, amount, nowMs, creditLifeMs);
    } else {
      wallet.end(nowMs);
      for (const hold of holds) this.#follow(walletId, wallet, hold, nowMs);
    }
  }

  #topUp(wallet: CreditModel, request: Extract<Command, { kind: "top_up" }>["request"], nowMs: number): void {
    const { walletId, topUpId: id, amount, source = "purchase", expiresAtMs: ends, creditId } = request;
    if (amount > 0n) {
      wallet.topUp({ id, source, amount, ends }, nowMs);
      return;
    }
    wallet.correct(-amount, creditId, nowMs);
    const over = wallet.held - wallet.posted;
    if (over > 0n)
      this.#overdrawn.set(walletId, this.overdrawn(walletId) + (over < -amount ? over : -amount));
  }

  #follow(walletId: string, wallet: CreditModel, hold: Step["holds"][number], nowMs: number): void {
    const { holdId, state, granted, captured } = hold;
    const known = wallet.holds.get(holdId);
    // A charge, and a settlement whose hold was lost with the power, have never held anything.
    const taken = state === "held" ? granted : 0n;
    if (!known) {
      const { available } = wallet;
      if (taken > 0n && taken > available)
        this.#report(`hold ${holdId} of wallet ${walletId} was granted ${taken} of ${available} available`);
      wallet.take(holdId, taken, nowMs);
    }
    if (state === "held") return;
    const before = known?.parts.reduce((sum, { amount }) => sum + amount, 0n) ?? 0n;
    wallet.settle(holdId, captured - before, nowMs);
  }

  #compare(walletId: string, { wallet: stored, credits }: WorkingBook): void {
    const wallet = this.#wallets.get(walletId);
    if (!wallet || !stored) return;
    const { posted, held, debt } = wallet;
    const about = (text: string) => this.#report(`wallet ${walletId}: ${text}`);
    if (stored.posted !== posted) about(`${stored.posted} are posted, and its credits come to ${posted}`);
    if (stored.held !== held) about(`${stored.held} are held, and its holds come to ${held}`);
    if (debt < 0n) about(`it owes ${debt}`);
    if (!stored.isMixed) return;
    const ids = new Map([...credits].map((credit) => [credit.creditId, credit]));
    for (const { id, left, expired } of wallet.lots) {
      const credit = ids.get(id);
      if (left !== (credit?.left ?? 0n) || (credit && credit.expired !== expired))
        about(
          `credit ${id} has ${credit?.left} left and ${credit?.expired} expired, not ${left} and ${expired}`,
        );
    }
  }
}

function lastMarked(steps: readonly Step[]): Step {
  const last = steps.at(-1);
  if (!last) throw new Error("A commit without decisions is not kept");
  return last;
}
