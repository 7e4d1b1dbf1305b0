import type { Database } from "bun:sqlite";
import { firstIdOf } from "../../domain/id-time.ts";
import { isCalendar } from "../../domain/period.ts";
import type { Scope } from "../../domain/scope.ts";
import {
  type CounterKey,
  Counters,
  type Hold,
  postingKey,
  spendKey,
  TRANSFER_KINDS,
  type TransferKind,
} from "../core/book.ts";
import type { Command, SetLimitCommand } from "../core/command.ts";
import { Credits } from "../core/credits.ts";
import { fitCredits } from "../core/fit-credits.ts";
import { limitsOf } from "../core/headroom.ts";
import {
  countersOf,
  DUE_HOLDS_MAX,
  type RowReader,
  readRows,
  readSetsOf,
  receiptsOf,
  unreadWindowsOf,
} from "../core/read-set.ts";
import { bindingOfScope, type Spender } from "../core/spender.ts";
import { isId } from "../core/validate.ts";
import { countedPeriodOf, holdsToBind } from "../core/wallet.ts";
import { createWorkingBook, type WorkingBook } from "../core/working-book.ts";
import { type KeptBook, KeptBooks } from "../engine/kept-books.ts";
import {
  type CounterRow,
  type CreditRow,
  type HoldRow,
  readCounter,
  readCredit,
  readHold,
  readSpendLimit,
  readTransfer,
  readWallet,
  type SpendLimitRow,
  type TransferRow,
  type WalletRow,
} from "../queries/rows.ts";
import { createPeriodReader } from "./limit-periods.ts";

/**
 * The books of wallets, kept in memory from batch to batch. Kept are the wallet, its open holds, and the
 * limits and counters that commands needed. A commit of another connection, also one of this process, drops
 * every book: the rows are read again when commands need them.
 */
export interface Books {
  /** Opens the books of a batch. Must be called inside its transaction. */
  open(commands: readonly Command[], nowMs: number): ReadonlyMap<string, WorkingBook>;
  /** Keeps the opened books, with their changes, for the next batch. Must be called before the commit. */
  keep(): void;
  /** Drops every book. Must be called when the transaction failed. */
  drop(): void;
}

/** `onDrop` is called when every book is dropped: other rows kept in memory may have changed too. */
export function createBooks(client: Database, rowsMax?: number, onDrop = () => {}): Books {
  const statements = prepare(client);
  const reader = new BookReader(statements);
  const kept = new KeptBooks<KeptBook>(rowsMax);
  let opened = new Map<string, KeptBook>();
  let dataVersion: number | undefined;

  const drop = () => {
    kept.drop();
    reader.forget();
    dataVersion = undefined;
    onDrop();
  };
  const dropIfChanged = () => {
    const row = statements.dataVersion.get();
    if (row?.data_version !== dataVersion) drop();
    dataVersion = row?.data_version;
  };

  return {
    open(commands, nowMs) {
      dropIfChanged();
      opened = new Map();
      for (const command of commands) {
        const { walletId } = command.request;
        let book = opened.get(walletId);
        if (!book) {
          book = kept.get(walletId) ?? readBook(statements, walletId);
          opened.set(walletId, book);
        }
        if (book.wallet || isId(walletId)) reader.readInto(book, command, nowMs);
      }
      if (commands.some(({ kind }) => kind === "set_spend_limit"))
        reader.readSetLimits(opened, commands, nowMs);
      if (statements.anyDue.get(nowMs)) reader.readDue(opened, commands, nowMs);
      return opened;
    },
    keep() {
      for (const book of opened.values()) {
        for (const holdId of book.writeSet.newHolds.keys()) reader.raiseLastHoldId(holdId);
      }
      kept.keep(opened);
    },
    drop,
  };
}

function readBook(statements: Statements, walletId: string): KeptBook {
  const row = isId(walletId) ? statements.wallet.get(walletId) : null;
  const book = createWorkingBook({
    wallet: row ? readWallet(row) : undefined,
    holds: new Map(),
    limits: new Map(),
    counters: new Counters(),
    windowStarts: new Map(),
    postings: new Map(),
    spends: new Map(),
    credits: new Credits(),
    dueHoldIds: [],
  });
  return Object.assign(book, {
    bindings: new Set<string>(),
    kinds: undefined,
    hasCredits: false,
    keptRows: 0,
  });
}

/** Reads into a book the rows that a command needs and that the book does not have. */
class BookReader implements RowReader {
  readonly #statements: Statements;
  /** No hold of the table has a higher id. `undefined`: not known. */
  #lastHoldId: string | undefined;
  /** Ended receipts with lower ids are being dropped. `undefined`: not known. */
  #firstKeptId: string | undefined;
  #book!: KeptBook;
  #walletId = "";
  #nowMs = 0;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  readInto(book: KeptBook, command: Command, nowMs: number): void {
    this.#book = book;
    this.#walletId = command.request.walletId;
    this.#nowMs = nowMs;
    if (book.wallet?.isMixed) this.#liveCredits();
    readRows(command, this);
  }

  /** Must be called for each hold that this connection inserts. */
  raiseLastHoldId(holdId: string): void {
    if (this.#lastHoldId !== undefined && holdId > this.#lastHoldId) this.#lastHoldId = holdId;
  }

  /** Must be called when another connection may have inserted holds. */
  forget(): void {
    this.#lastHoldId = undefined;
    this.#firstKeptId = undefined;
  }

  /** Reads the due holds of the wallets that spend. */
  readDue(opened: ReadonlyMap<string, KeptBook>, commands: readonly Command[], nowMs: number): void {
    const spenders = commands.filter(({ kind }) => kind === "hold" || kind === "charge");
    const walletIds = JSON.stringify(spenders.map(({ request }) => request.walletId));
    for (const row of this.#statements.due.all(nowMs, walletIds, DUE_HOLDS_MAX)) {
      const book = opened.get(row.wallet_id);
      if (!book) continue;
      this.#book = book;
      this.#walletId = row.wallet_id;
      if (!book.holds.has(row.hold_id)) this.#addHold(readHold(row));
      book.dueHoldIds = [...book.dueHoldIds, row.hold_id];
    }
  }

  hold(holdId: string): void {
    if (this.#book.holds.has(holdId)) return;
    // Ids grow with time, so that the id of a new hold is nearly always above every id of the table.
    this.#lastHoldId ??= this.#statements.lastHold.get()?.hold_id ?? "";
    if (holdId > this.#lastHoldId) return;
    const row = this.#statements.hold.get(this.#walletId, holdId);
    if (row && !this.#isDropped(row)) this.#addHold(readHold(row));
  }

  /** Whether retention is deleting this receipt, which must no longer change. */
  #isDropped({ hold_id, state }: HoldRow): boolean {
    if (state === "held") return false;
    this.#firstKeptId ??= firstIdOf(this.#statements.retention.get()?.receipts_from_ms ?? 0);
    return hold_id < this.#firstKeptId;
  }

  spender(spender: Spender): void {
    this.#limitsOf(spender.keyId, this.#statements.limitsOfKey);
    if (spender.scopes && spender.scopes.length > 0) this.#limitsOfScopes(spender.scopes);
    for (const counterId of unreadWindowsOf(this.#book, { spenders: [spender], limits: [] }, this.#nowMs))
      this.#windows(counterId);
    for (const { key } of limitsOf(this.#book, spender, this.#nowMs)) this.#counter(key);
  }

  /** Reads the counters that commands of a batch need of limits that the same batch sets. */
  readSetLimits(opened: ReadonlyMap<string, KeptBook>, commands: readonly Command[], nowMs: number): void {
    for (const [walletId, reads] of readSetsOf(commands)) {
      const book = opened.get(walletId);
      if (!book || reads.limits.length === 0 || reads.spenders.length === 0) continue;
      this.#book = book;
      this.#walletId = walletId;
      this.#nowMs = nowMs;
      for (const counterId of unreadWindowsOf(book, reads, nowMs)) this.#windows(counterId);
      for (const key of countersOf(book, reads, nowMs)) this.#counter(key);
    }
  }

  /** Reads the limits in force with a binding, once for each book. */
  #limitsOf(binding: string, select: Statements["limitsOfKey"]): void {
    const { bindings } = this.#book;
    if (bindings.has(binding)) return;
    const rows = select.all(this.#walletId, binding);
    this.#book.addLimits(rows.map(readSpendLimit));
    bindings.add(binding);
  }

  /** Reads the limits of scopes, where the wallet has any of their kind. */
  #limitsOfScopes(scopes: readonly Scope[]): void {
    this.#book.kinds ??= new Set(this.#statements.kinds.all(this.#walletId).map(({ kind }) => kind));
    for (const scope of scopes) {
      if (scope.kind === "parent_key") this.#limitsOf(scope.id, this.#statements.limitsOfKey);
      else if (this.#book.kinds.has(scope.kind))
        this.#limitsOf(bindingOfScope(scope), this.#statements.limitsOfScope);
    }
  }

  limit(limitId: string): void {
    if (this.#book.limits.has(limitId)) return;
    const row = this.#statements.limit.get(this.#walletId, limitId);
    if (row) this.#book.addLimits([readSpendLimit(row)]);
  }

  newLimit(limit: SetLimitCommand): void {
    const { kinds, holds, spends } = this.#book;
    if (limit.scope) kinds?.add(limit.scope.kind);
    if (!isCalendar(limit.period)) return;
    const { openHolds, spendOf } = this.#statements.periods;
    for (const hold of openHolds(limit)) if (!holds.has(hold.holdId)) this.#addHold(hold);
    const bound = holdsToBind(this.#book, limit, this.#nowMs);
    for (const { keys } of bound) for (const key of keys) this.#counter(key);
    const counted = countedPeriodOf(limit, this.#nowMs);
    if (!counted) return;
    this.#counter(counted);
    const name = spendKey(counted, limit);
    if (!spends.has(name)) spends.set(name, spendOf(limit, this.#nowMs));
  }

  posting(kind: TransferKind, transferId: string): void {
    const row = this.#statements.posting.get(this.#walletId, transferId, kind);
    if (!row) return;
    const transfer = readTransfer(row);
    this.#book.postings.set(postingKey(kind, transferId), transfer);
    for (const receiptId of receiptsOf([transfer])) this.hold(receiptId);
    if (kind === TRANSFER_KINDS.topUp) this.#credit(transfer.seq);
  }

  grant(): void {
    this.#liveCredits();
    this.#credit(this.#book.wallet?.newestCredit ?? 0);
  }

  captures(holdId: string): void {
    const rows = this.#statements.captures.all(this.#walletId, holdId);
    for (const transfer of rows.map(readTransfer)) {
      this.#book.postings.set(postingKey(transfer.kind, transfer.transferId), transfer);
      for (const [seq] of transfer.credits ?? []) this.#credit(seq);
      if (transfer.credits) continue;
      const row = this.#statements.creditBefore.get(this.#walletId, transfer.seq);
      if (row) this.#addCredit(row);
    }
  }

  /** Reads the credits with something left, once for each book. */
  #liveCredits(): void {
    if (this.#book.hasCredits) return;
    for (const row of this.#statements.liveCredits.all(this.#walletId)) this.#addCredit(row);
    this.#book.hasCredits = true;
    fitCredits(this.#book);
  }

  #credit(seq: number): void {
    if (this.#book.credits.get(seq)) return;
    const row = this.#statements.credit.get(this.#walletId, seq);
    if (row) this.#addCredit(row);
  }

  #addCredit(row: CreditRow): void {
    const credit = readCredit(row);
    if (!this.#book.credits.get(credit.seq)) this.#book.credits.set(credit);
  }

  #addHold(hold: Hold): void {
    this.#book.addHolds([hold]);
    for (const key of hold.limits) this.#counter(key);
  }

  #counter(key: CounterKey): void {
    const { counters } = this.#book;
    if (counters.has(key)) return;
    const row = this.#statements.counter.get(this.#walletId, key.counterId, key.periodStartMs);
    counters.set(readCounter(key, row));
  }

  /** Reads the starts of a counter's windows around now. */
  #windows(counterId: string): void {
    const row = this.#statements.windows.get(this.#walletId, counterId, this.#nowMs);
    const { latest_ms: latestMs, next_ms: nextMs } = row ?? {};
    this.#book.windowStarts.set(counterId, { latestMs: latestMs ?? undefined, nextMs: nextMs ?? undefined });
  }
}

type Statements = ReturnType<typeof prepare>;

/** The starts of a counter's windows around a time. */
interface WindowsRow {
  readonly latest_ms: number | null;
  readonly next_ms: number | null;
}

const HOLD_COLUMNS = `wallet_id, hold_id, key_id, scopes, state, late, requested, minimum, granted, accrued, actual,
  captured, refunded, ttl_ms, created_at_ms, expires_at_ms, resolved_at_ms, limits, surface, model, metadata`;

function prepare(client: Database) {
  /** Integers are read as bigint, as the row types require. */
  const query = <Row, Parameters extends (string | number)[]>(sql: string) =>
    client.query<Row, Parameters>(sql).safeIntegers(true);
  return {
    periods: createPeriodReader(client, HOLD_COLUMNS),
    /** Changes with every commit of another connection. */
    dataVersion: client.query<{ data_version: number }, []>("PRAGMA data_version"),
    anyDue: client.query<object, [number]>(
      "SELECT 1 FROM holds INDEXED BY holds_open WHERE state = 'held' AND expires_at_ms <= ? LIMIT 1",
    ),
    wallet: query<WalletRow, [string]>("SELECT * FROM wallets WHERE wallet_id = ?"),
    retention: client.query<{ receipts_from_ms: number }, []>("SELECT receipts_from_ms FROM retention"),
    lastHold: client.query<{ hold_id: string }, []>(
      "SELECT hold_id FROM holds ORDER BY hold_id DESC LIMIT 1",
    ),
    hold: query<HoldRow, [string, string]>(
      `SELECT ${HOLD_COLUMNS} FROM holds WHERE wallet_id = ? AND hold_id = ?`,
    ),
    // Uses the index of open holds: by wallet, SQLite would scan every hold that the wallets ever had.
    due: query<HoldRow, [number, string, number]>(
      `SELECT ${HOLD_COLUMNS} FROM holds INDEXED BY holds_open
        WHERE state = 'held' AND expires_at_ms <= ? AND wallet_id IN (SELECT value FROM json_each(?))
        ORDER BY expires_at_ms LIMIT ?`,
    ),
    // The templates of wallet and key have bindings of their own.
    limitsOfKey: query<SpendLimitRow, [string, string]>(
      `SELECT * FROM spend_limits WHERE wallet_id = ?1 AND deleted_at_ms IS NULL
        AND (key_id IS NULL OR key_id IN (?2, 'key' || char(10) || ?2, 'wallet' || char(10)))`,
    ),
    limitsOfScope: query<SpendLimitRow, [string, string]>(
      "SELECT * FROM spend_limits WHERE wallet_id = ? AND key_id = ? AND deleted_at_ms IS NULL",
    ),
    kinds: client.query<{ kind: string }, [string]>(
      `SELECT DISTINCT substr(key_id, 1, instr(key_id, char(10)) - 1) AS kind FROM spend_limits
        WHERE wallet_id = ? AND instr(key_id, char(10)) > 0 AND deleted_at_ms IS NULL`,
    ),
    windows: client.query<WindowsRow, [string, string, number]>(
      `SELECT (SELECT max(period_start_ms) FROM limit_counters
          WHERE wallet_id = ?1 AND limit_id = ?2 AND period_start_ms <= ?3) AS latest_ms,
        (SELECT min(period_start_ms) FROM limit_counters
          WHERE wallet_id = ?1 AND limit_id = ?2 AND period_start_ms > ?3) AS next_ms`,
    ),
    liveCredits: query<CreditRow, [string]>("SELECT * FROM credits WHERE wallet_id = ? AND live"),
    credit: query<CreditRow, [string, number]>("SELECT * FROM credits WHERE wallet_id = ? AND seq = ?"),
    creditBefore: query<CreditRow, [string, number]>(
      "SELECT * FROM credits WHERE wallet_id = ? AND seq < ? ORDER BY seq DESC LIMIT 1",
    ),
    captures: query<TransferRow, [string, string]>(
      `SELECT * FROM transfers WHERE transfer_id = ?2 AND kind IN (2, 3, 4) AND wallet_id = ?1
        UNION ALL SELECT * FROM transfers WHERE wallet_id = ?1 AND hold_id = ?2 AND kind = 6`,
    ),
    limit: query<SpendLimitRow, [string, string]>(
      "SELECT * FROM spend_limits WHERE wallet_id = ? AND limit_id = ?",
    ),
    counter: query<CounterRow, [string, string, number]>(
      "SELECT used, held FROM limit_counters WHERE wallet_id = ? AND limit_id = ? AND period_start_ms = ?",
    ),
    posting: query<TransferRow, [string, string, number]>(
      "SELECT * FROM transfers WHERE wallet_id = ? AND transfer_id = ? AND kind = ?",
    ),
  };
}
