import { ACCOUNTS, TRANSFER_KINDS } from "../core/book.ts";
import { LedgerError } from "../ledger.ts";
import type { JournalLine, Page, PageRequest, TransferKindName } from "../records.ts";
import { createPage, type PagedList, readPage } from "./page.ts";
import { createValues, type Dialect, isStorable, type Row, type RunQuery } from "./query.ts";

const KIND_NAMES: ReadonlyMap<number, TransferKindName> = new Map<number, TransferKindName>([
  [TRANSFER_KINDS.topUp, "top_up"],
  [TRANSFER_KINDS.settlement, "settlement"],
  [TRANSFER_KINDS.expiryCapture, "expiry_capture"],
  [TRANSFER_KINDS.lateSettlement, "late_settlement"],
  [TRANSFER_KINDS.refund, "refund"],
  [TRANSFER_KINDS.charge, "charge"],
]);

/** The journal of a wallet, newest first. */
export function createTransferList(run: RunQuery, dialect: Dialect) {
  return async (walletId: string, page: PageRequest): Promise<Page<JournalLine>> => {
    if (!isStorable(walletId)) throw new LedgerError("invalid_query");
    const list: PagedList = { name: ["transfers", walletId], isPosition: isSequenceNumber };
    const { after, rowsMax } = readPage(list, page);
    const values = createValues(dialect);
    const conditions = [`wallet_id = ${values.add(walletId)}`];
    if (after !== undefined) conditions.push(`seq < ${values.add(BigInt(after))}`);
    const sql = `SELECT seq, transfer_id, kind, credit_account, amount, posted_after, hold_id, created_at_ms
      FROM transfers WHERE ${conditions.join(" AND ")} ORDER BY ${dialect.transferOrder} DESC LIMIT ${values.add(rowsMax)}`;
    const rows = await run({ sql, values: values.all });
    return createPage(list, page, { rows, read: readLine, positionOf: ({ seq }) => `${seq}` });
  };
}

function isSequenceNumber(text: string): boolean {
  return /^[1-9]\d*$/.test(text) && Number.isSafeInteger(Number(text));
}

interface TransferRow {
  readonly seq: bigint;
  readonly transfer_id: string;
  /** PostgreSQL returns its small integers as numbers. */
  readonly kind: bigint | number;
  readonly credit_account: bigint | number;
  readonly amount: bigint;
  readonly posted_after: bigint;
  readonly hold_id: string | null;
  readonly created_at_ms: bigint;
}

function readLine(given: Row): JournalLine {
  // Safe because the statement selects these columns, which have the schema's types.
  const row = given as unknown as TransferRow;
  const kind = KIND_NAMES.get(Number(row.kind));
  if (!kind)
    throw new LedgerError("unavailable", new Error(`Cannot read a transfer: its kind is ${row.kind}`));
  return {
    seq: Number(row.seq),
    transferId: row.transfer_id,
    kind,
    amount: Number(row.credit_account) === ACCOUNTS.wallet ? row.amount : -row.amount,
    postedAfter: row.posted_after,
    holdId: row.hold_id ?? undefined,
    createdAtMs: Number(row.created_at_ms),
  };
}
