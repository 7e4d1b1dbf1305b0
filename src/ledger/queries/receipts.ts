import type { Page, PageRequest, Receipt, ReceiptFilter } from "../ledger.ts";
import { type PagedList, printPage, readPage } from "./page.ts";
import { type Ask, createValues, type Dialect } from "./query.ts";
import { printFilter } from "./receipt-filter.ts";
import { readReceipt, receiptColumns } from "./receipt-row.ts";
import { isStorable, isUuid } from "./text.ts";

export function createReceiptRead(ask: Ask, dialect: Dialect) {
  return async (walletId: string, holdId: string): Promise<Receipt | undefined> => {
    if (!isStorable(walletId) || !isUuid(holdId)) return undefined;
    const values = createValues(dialect);
    const sql = `SELECT ${receiptColumns(dialect)} FROM holds
      WHERE wallet_id = ${values.add(walletId)} AND hold_id = ${values.add(holdId)}`;
    const [row] = await ask({ sql, values: values.all });
    return row && readReceipt(row);
  };
}

/** The newest first, by the time in their ids. */
export function createReceiptList(ask: Ask, dialect: Dialect) {
  return async (filter: ReceiptFilter, page: PageRequest): Promise<Page<Receipt>> => {
    const values = createValues(dialect);
    const conditions = [...printFilter(filter, values)];
    const list = listOf(filter);
    const { after, rowsMax } = readPage(list, page);
    if (after !== undefined) conditions.push(`hold_id < ${values.add(after)}`);
    const sql = `SELECT ${receiptColumns(dialect)} FROM holds WHERE ${conditions.join(" AND ")}
      ORDER BY hold_id DESC LIMIT ${values.add(rowsMax)}`;
    const rows = await ask({ sql, values: values.all });
    return printPage(list, page, { rows, read: readReceipt, positionOf: ({ holdId }) => holdId });
  };
}

function listOf(filter: ReceiptFilter): PagedList {
  const { walletId, fromMs, toMs, keyId, surface, model, upstream, state, outcome } = filter;
  const conditions = { walletId, fromMs, toMs, keyId, surface, model, upstream, state, outcome };
  return { name: ["receipts", conditions], isPosition: isUuid };
}
