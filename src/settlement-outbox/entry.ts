import type { Price } from "../domain/model.ts";
import {
  type Ledger,
  LedgerError,
  type LedgerRefusal,
  type OutcomeFacts,
  type ReleaseRequest,
  type Settlement,
  type SettleRequest,
} from "../ledger/ledger.ts";

/** How a hold is to end. */
export type JournalEntry =
  | { readonly kind: "settle"; readonly request: SettleRequest }
  | { readonly kind: "release"; readonly request: ReleaseRequest }
  /** A release of a hold of which nobody knows whether it was taken: that there is none is as good. */
  | { readonly kind: "abandon"; readonly request: ReleaseRequest };

/** Where an ending waits on the disk for a ledger that cannot take it now. */
export interface Journal {
  /** Resolves when the entry is on disk. Rejects with {@link JournalError}: then it may not be. */
  append(entry: JournalEntry): Promise<void>;
}

/** An entry that the journal cannot keep: it is full, closed, or the disk refuses it. */
export class JournalError extends Error {
  override readonly name = "JournalError";
  readonly code: keyof typeof PROBLEMS;

  constructor(code: keyof typeof PROBLEMS, reason?: unknown) {
    super(`Cannot journal the end of a hold: ${PROBLEMS[code]}`, { cause: reason });
    this.code = code;
  }
}

const PROBLEMS = {
  closed: "the journal is closed",
  full: "too many entries wait already",
  too_large: "it is too large",
  not_written: "the disk refuses it",
};

/**
 * Asks the ledger to end a hold, once. Rejects with its refusal, or with `unavailable` when it has not
 * answered in time; it may take it even so, and repeating the entry is harmless.
 */
export async function bookEntry(
  ledger: Ledger,
  entry: JournalEntry,
  answerMaxMs: number,
): Promise<Settlement> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new LedgerError("unavailable")), answerMaxMs);
  // A process that ends does not wait for a ledger that says nothing.
  timer.unref();
  try {
    const booked = entry.kind === "settle" ? ledger.settle(entry.request) : ledger.release(entry.request);
    return await Promise.race([booked, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether a ledger refused because it is away, full or late: it may take the same command another time. */
export function isAway(fault: unknown): boolean {
  return fault instanceof LedgerError && AWAY.has(fault.refusal);
}

const AWAY: ReadonlySet<LedgerRefusal> = new Set(["unavailable", "queue_full", "deadline_exceeded"]);

/** An entry as JSON; money is in decimal strings, because JSON's numbers would round it. */
type PrintedEntry = Omit<ReleaseRequest, "facts"> & {
  readonly kind: JournalEntry["kind"];
  readonly amount?: string | undefined;
  readonly facts: Omit<OutcomeFacts, "price"> & {
    readonly price?: Record<keyof Price, string> | undefined;
  };
};

/** Throws TypeError when the metadata is no JSON. */
export function printEntry({ kind, request }: JournalEntry): string {
  const { price } = request.facts;
  const printed: PrintedEntry = {
    ...request,
    kind,
    amount: "amount" in request ? String(request.amount) : undefined,
    facts: { ...request.facts, price: price && mapPrice(price, String) },
  };
  return JSON.stringify(printed);
}

/** The inverse of {@link printEntry}. Throws SyntaxError on anything else. */
export function parseEntry(text: string): JournalEntry {
  // Safe because what is parsed was printed above: its checksum was compared.
  const { kind, amount, facts, ...rest } = JSON.parse(text) as PrintedEntry;
  const price = facts.price && mapPrice(facts.price, BigInt);
  const request = { ...rest, facts: { ...facts, price } };
  if (kind !== "settle") return { kind, request };
  if (amount === undefined) throw new SyntaxError("A settlement without an amount");
  return { kind, request: { ...request, amount: BigInt(amount) } };
}

function mapPrice<From, To>(
  price: Readonly<Record<keyof Price, From>>,
  map: (each: From) => To,
): Record<keyof Price, To> {
  return {
    input: map(price.input),
    output: map(price.output),
    cachedInput: map(price.cachedInput),
    cacheWrite: map(price.cacheWrite),
    cacheWrite1h: map(price.cacheWrite1h),
  };
}
