import {
  type Ledger,
  LedgerError,
  type LedgerErrorCode,
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
  return fault instanceof LedgerError && AWAY.has(fault.code);
}

const AWAY: ReadonlySet<LedgerErrorCode> = new Set(["unavailable", "queue_full", "deadline_exceeded"]);
