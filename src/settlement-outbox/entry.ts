import { type Database, SQLiteError } from "bun:sqlite";
import { itemsOf, parseItems, printItems, readItems } from "../domain/items.ts";
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
  type TakenHold,
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

/** Whether the ledger has no such hold. It may have lost it. */
export function isHoldMissing(fault: unknown): boolean {
  return fault instanceof LedgerError && fault.code === "hold_not_found";
}

/** Whether the ledger may accept the same command later: it was unavailable, full or late. */
export function isRetryable(fault: unknown): boolean {
  return fault instanceof LedgerError && RETRYABLE.has(fault.code);
}

const RETRYABLE: ReadonlySet<LedgerErrorCode> = new Set(["unavailable", "queue_full", "deadline_exceeded"]);

/** The format on disk. Older and newer versions must be able to read it. */
type PrintedEntry = Omit<ReleaseRequest, "facts" | "taken"> & {
  readonly kind: "settle" | "release" | "abandon";
  /** Nano-USD in decimal digits, because a JSON number would round it. */
  readonly amount?: string | undefined;
  readonly facts: Omit<OutcomeFacts, "price" | "upstreamCost"> & {
    readonly price?: PrintedPrice | undefined;
    /** Absent where nothing but tokens of text was charged, and in the entries of older versions. */
    readonly items?: string | undefined;
    /** Like `amount`. Absent in the entries of older versions. */
    readonly upstreamCost?: string | undefined;
  };
  /** Absent in the entries of older versions, as are its scopes. */
  readonly taken?: (Omit<TakenHold, "granted"> & { readonly granted: string }) | undefined;
};

/** Prices in decimal digits of pico-USD. */
type PrintedPrice = Record<keyof TokenPrice, string> & {
  readonly unit?: { readonly name: UnitName; readonly picos: string } | undefined;
};

/** Prints an entry as JSON. Throws TypeError when the metadata cannot be expressed in JSON. */
export function printEntry({ kind, request }: OutboxEntry): string {
  const { price, usage, upstreamCost } = request.facts;
  const items = price && usage ? itemsOf(price, usage) : [];
  const { taken } = request;
  const printed: PrintedEntry = {
    ...request,
    kind: kind === "release_if_held" ? "abandon" : kind,
    amount: "amount" in request ? String(request.amount) : undefined,
    facts: {
      ...request.facts,
      price: price && printPrice(price),
      ...(items.length > 0 && { items: printItems(items) }),
      upstreamCost: upstreamCost === undefined ? undefined : String(upstreamCost),
    },
    taken: taken && { ...taken, granted: String(taken.granted) },
  };
  return JSON.stringify(printed);
}

/** Parses the text of {@link printEntry}. Throws SyntaxError for any other text. */
export function parseEntry(text: string): OutboxEntry {
  // Safe because the caller has compared the checksum of the text.
  const { kind, amount, facts, taken, ...rest } = JSON.parse(text) as PrintedEntry;
  const { items, ...outcome } = facts;
  const read = items === undefined ? undefined : readItems(parseItems(items));
  const price = facts.price && { ...parsePrice(facts.price), ...read?.price };
  const upstreamCost = facts.upstreamCost === undefined ? undefined : BigInt(facts.upstreamCost);
  const request = {
    ...rest,
    facts: { ...outcome, price, upstreamCost },
    ...(taken && { taken: { ...taken, granted: BigInt(taken.granted) } }),
  };
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

/** The version of the tables, in `user_version`. A file of a later version is left untouched. */
const VERSION = 1;

/**
 * `entries` has the entries to replay, `refused` those that the ledger declined. The index makes counting a
 * large outbox fast.
 */
const TABLES = `
CREATE TABLE entries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  hold_id TEXT NOT NULL,
  entry TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  written_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX entries_by_time ON entries (written_at_ms);
CREATE TABLE refused (
  seq INTEGER PRIMARY KEY,
  hold_id TEXT NOT NULL,
  entry TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  written_at_ms INTEGER NOT NULL,
  refusal TEXT NOT NULL,
  refused_at_ms INTEGER NOT NULL
) STRICT;
`;

/** The database that the entries belong to. Older versions neither write nor read it. */
const ORIGIN = "CREATE TABLE origin (instance_id TEXT NOT NULL) STRICT;";

/** An outbox file lacks its tables, or they cannot be read. */
class DamagedOutbox extends Error {
  override readonly name = "DamagedOutbox";
}

/** Creates the tables of a new file. */
export function createTables(client: Database, origin: string | undefined): void {
  client.run("PRAGMA journal_mode = WAL");
  const create = client.transaction(() => {
    client.run(`${TABLES} ${ORIGIN} PRAGMA user_version = ${VERSION};`);
    if (origin !== undefined) client.run("INSERT INTO origin VALUES (?)", [origin]);
  });
  create.immediate();
  // Moves the tables out of the WAL: damage to its first frames would otherwise lose them.
  client.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

export function hasTables(client: Database): boolean {
  return Number(readOne(client, "SELECT count(*) FROM sqlite_schema")) > 0;
}

/** Throws {@link DamagedOutbox} when the file lacks the tables, Error when a later version wrote them. */
export function checkTables(client: Database): void {
  const version = Number(readOne(client, "PRAGMA user_version"));
  if (version > VERSION) throw new Error("Cannot open a settlement outbox: a newer tollgate wrote it");
  if (version < VERSION) throw new DamagedOutbox("Cannot open a settlement outbox: its tables are missing");
}

/** Returns the id of the database that the entries belong to; `undefined` when no one wrote it. */
export function readOrigin(client: Database): string | undefined {
  const hasOrigin = Number(readOne(client, "SELECT count(*) FROM sqlite_schema WHERE name = 'origin'")) > 0;
  const origin = hasOrigin ? readOne(client, "SELECT instance_id FROM origin") : undefined;
  return origin === undefined ? undefined : String(origin);
}

/** Counts the entries to replay and the declined ones. */
export function countEntries(client: Database): { readonly pending: number; readonly declined: number } {
  return {
    pending: Number(readOne(client, "SELECT count(*) FROM entries")),
    declined: Number(readOne(client, "SELECT count(*) FROM refused")),
  };
}

function readOne(client: Database, sql: string): unknown {
  try {
    return client.query(sql).values()[0]?.[0];
  } catch (error) {
    throw isDamage(error) ? new DamagedOutbox("Cannot read a settlement outbox", { cause: error }) : error;
  }
}

/** Whether the file itself is broken, rather than locked or failing for now. */
export function isDamage(error: unknown): boolean {
  if (error instanceof DamagedOutbox) return true;
  return error instanceof SQLiteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code ?? "");
}
