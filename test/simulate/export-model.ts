import type { Line } from "../../src/exports/line.ts";
import type { Receipt } from "../../src/ledger/records.ts";
import { Violation } from "./model.ts";

/** What the receiver of one export has, and what it must have. */
export class ExportModel {
  readonly #name: string;
  readonly #report: (claim: string) => void;
  /** The lines by their ids; the latest of those with one id. */
  readonly #lines = new Map<string, Line>();
  readonly #ofReceipts = new Map<string, Set<string>>();
  /** Of each wallet, the sum of its transfers, and the number of its last one. */
  readonly #sums = new Map<string, bigint>();
  readonly #lastSeqs = new Map<string, number>();

  constructor(name: string, report: (claim: string) => void) {
    this.#name = name;
    this.#report = report;
  }

  /** The receiver has taken lines, some of them perhaps again. */
  take(lines: readonly Line[]): void {
    for (const line of lines) this.#takeOne(line);
  }

  #takeOne(line: Line): void {
    const { id, type, entry } = line;
    const known = this.#lines.get(id);
    const changed = known ? changesOf(known, line) : [];
    if (changed.length > 0)
      this.#report(`export ${this.#name}: line ${id} came again with ${changed.join(", ")}`);
    this.#lines.set(id, line);
    const { walletId, transfer, receipt } = entry;
    const holdId = type === "receipt" ? (transfer?.holdId ?? receipt?.holdId) : undefined;
    if (holdId !== undefined) {
      const ids = this.#ofReceipts.get(holdId) ?? new Set();
      this.#ofReceipts.set(holdId, ids.add(id));
    }
    const lastSeq = this.#lastSeqs.get(walletId) ?? 0;
    const seq = transfer?.seq ?? lastSeq;
    if (seq > lastSeq + 1)
      this.#report(`export ${this.#name}: line ${id} has number ${seq} after ${lastSeq}`);
    this.#lastSeqs.set(walletId, Math.max(lastSeq, seq));
    const amount = (transfer?.amount ?? 0n) - (known?.entry.transfer?.amount ?? 0n);
    this.#sums.set(walletId, (this.#sums.get(walletId) ?? 0n) + amount);
  }

  /** Checks that a receipt that ended is there, with its charge. */
  checkReceipt({ holdId, captured, late }: Receipt): void {
    const lines = [...(this.#ofReceipts.get(holdId) ?? [])].flatMap((id) => this.#lines.get(id) ?? []);
    this.#require(lines.length > 0, `receipt ${holdId} is missing`);
    this.#require(lines.length === 1 || late, `receipt ${holdId} has ${lines.length} lines`);
    const charged = lines.reduce((sum, { entry }) => sum - (entry.transfer?.amount ?? 0n), 0n);
    this.#require(charged === captured, `receipt ${holdId} is charged ${charged}, not ${captured}`);
    const hasFinal = lines.some(({ entry }) => entry.receipt?.captured === captured);
    this.#require(hasFinal, `no line of receipt ${holdId} has its final charge`);
  }

  /** Checks that the transfers of a wallet add up to its balance, or to one before ends of credits that were just booked. */
  checkWallet(walletId: string, [posted, ...before]: readonly [bigint, ...bigint[]]): void {
    const sum = this.#sums.get(walletId) ?? 0n;
    this.#require(
      sum === posted || before.includes(sum),
      `wallet ${walletId} has ${posted}, and its lines add up to ${sum}`,
    );
  }

  #require(isTrue: boolean, claim: string): void {
    if (!isTrue) throw new Violation(`export ${this.#name}: ${claim}`);
  }
}

type Members = Readonly<Record<string, unknown>>;

/** The members of a receipt that later events may change. */
const MAY_CHANGE: readonly string[] = ["refunded_usd"];

/** Names the members in which a repetition differs, other than those that may. */
function changesOf(was: Line, is: Line): readonly string[] {
  if (was.text === is.text) return [];
  const [before, after] = [membersOf(was), membersOf(is)];
  const isChanged = (name: string) =>
    !MAY_CHANGE.includes(name) && !Bun.deepEquals(before[name], after[name], true);
  return Object.keys(after)
    .filter(isChanged)
    .map((name) => `${name} ${JSON.stringify(after[name])} instead of ${JSON.stringify(before[name])}`);
}

function membersOf({ text }: Line): Members {
  const { transfer, receipt, ...line } = JSON.parse(text) as Members;
  return { ...(receipt as Members | null), ...line, transfer };
}
