import type { Price, TokenPrice } from "../domain/model.ts";
import type { TraceContext } from "../domain/trace-context.ts";
import type { UnitName } from "../domain/units.ts";
import {
  type Ledger,
  LedgerError,
  type LedgerErrorCode,
  type ReleaseRequest,
  type Settlement,
  type SettleRequest,
} from "../ledger/ledger.ts";
import type { OutcomeFacts } from "../ledger/records.ts";

/** The end of a hold: a settlement, a release, or a release of a hold that may not exist. */
export type OutboxEntry =
  | { readonly kind: "settle"; readonly request: SettleRequest }
  | { readonly kind: "release"; readonly request: ReleaseRequest }
  /** For a hold that may not have been taken. A decline of the ledger completes the entry. */
  | { readonly kind: "release_if_held"; readonly request: ReleaseRequest };

/** Keeps settlements and releases on disk while the ledger cannot accept them. */
export interface SettlementOutbox {
  /** Resolves when the entry is on disk. Rejects with {@link SettlementOutboxError} when it may not be. */
  append(entry: OutboxEntry): Promise<void>;
}

/** The outbox cannot keep an entry. `code` is the reason. */
export class SettlementOutboxError extends Error {
  override readonly name = "SettlementOutboxError";
  readonly code: keyof typeof REASONS;

  constructor(code: keyof typeof REASONS, reason?: unknown) {
    super(`Cannot keep a settlement in the outbox: ${REASONS[code]}`, { cause: reason });
    this.code = code;
  }
}

const REASONS = {
  closed: "the outbox is closed",
  full: "too many entries are waiting",
  too_large: "the entry is too large",
  not_written: "the write to disk failed",
};

/** Submits an entry to the ledger once. Submitting it again is harmless. Rejects with a `LedgerError`. */
export function submitEntry(ledger: Ledger, entry: OutboxEntry, trace?: TraceContext): Promise<Settlement> {
  const options = trace && { trace };
  return entry.kind === "settle"
    ? ledger.settle(entry.request, options)
    : ledger.release(entry.request, options);
}

/** Creates the error of a ledger that did not answer in time. It may still accept the entry. */
export function ledgerTooLate(): LedgerError {
  return new LedgerError("unavailable");
}

/** Whether the ledger may accept the same command later: it was unavailable, full or late. */
export function isRetryable(fault: unknown): boolean {
  return fault instanceof LedgerError && RETRYABLE.has(fault.code);
}

const RETRYABLE: ReadonlySet<LedgerErrorCode> = new Set(["unavailable", "queue_full", "deadline_exceeded"]);

/** The format on disk. Older and newer versions must be able to read it. */
type PrintedEntry = Omit<ReleaseRequest, "facts"> & {
  readonly kind: "settle" | "release" | "abandon";
  /** Nano-USD in decimal digits, because a JSON number would round it. */
  readonly amount?: string | undefined;
  readonly facts: Omit<OutcomeFacts, "price" | "upstreamCost"> & {
    readonly price?: PrintedPrice | undefined;
    /** Like `amount`. Absent in the entries of older versions. */
    readonly upstreamCost?: string | undefined;
  };
};

/** Prices in decimal digits of pico-USD. */
type PrintedPrice = Record<keyof TokenPrice, string> & {
  readonly unit?: { readonly name: UnitName; readonly picos: string } | undefined;
};

/** Prints an entry as JSON. Throws TypeError when the metadata cannot be expressed in JSON. */
export function printEntry({ kind, request }: OutboxEntry): string {
  const { price, upstreamCost } = request.facts;
  const printed: PrintedEntry = {
    ...request,
    kind: kind === "release_if_held" ? "abandon" : kind,
    amount: "amount" in request ? String(request.amount) : undefined,
    facts: {
      ...request.facts,
      price: price && printPrice(price),
      upstreamCost: upstreamCost === undefined ? undefined : String(upstreamCost),
    },
  };
  return JSON.stringify(printed);
}

/** Parses the text of {@link printEntry}. Throws SyntaxError for any other text. */
export function parseEntry(text: string): OutboxEntry {
  // Safe because the caller has compared the checksum of the text.
  const { kind, amount, facts, ...rest } = JSON.parse(text) as PrintedEntry;
  const price = facts.price && parsePrice(facts.price);
  const upstreamCost = facts.upstreamCost === undefined ? undefined : BigInt(facts.upstreamCost);
  const request = { ...rest, facts: { ...facts, price, upstreamCost } };
  if (kind === "abandon") return { kind: "release_if_held", request };
  if (kind !== "settle") return { kind, request };
  if (amount === undefined) throw new SyntaxError("A settlement without an amount");
  return { kind, request: { ...request, amount: BigInt(amount) } };
}

function printPrice(price: Price): PrintedPrice {
  const { unit } = price;
  return { ...mapPrice(price, String), unit: unit && { name: unit.name, picos: String(unit.picos) } };
}

function parsePrice(price: PrintedPrice): Price {
  const { unit } = price;
  return { ...mapPrice(price, BigInt), unit: unit && { name: unit.name, picos: BigInt(unit.picos) } };
}

function mapPrice<From, To>(
  price: Readonly<Record<keyof TokenPrice, From>>,
  map: (each: From) => To,
): Record<keyof TokenPrice, To> {
  return {
    input: map(price.input),
    output: map(price.output),
    cachedInput: map(price.cachedInput),
    cacheWrite: map(price.cacheWrite),
    cacheWrite1h: map(price.cacheWrite1h),
  };
}
