import { balancesOf } from "../core/book.ts";
import { LedgerError } from "../ledger.ts";
import type { Balances, Page, PageRequest, WalletSummary } from "../records.ts";
import { createPage, type PagedList, readPage } from "./page.ts";
import { createValues, type Dialect, isStorable, type Row, type RunQuery } from "./query.ts";
import type { WalletRow } from "./rows.ts";

const COLUMNS = "wallet_id, posted, held, credit_limit, state, created_at_ms";
const LIST: PagedList = { name: ["wallets"], isPosition: isStorable };

export function createWalletRead(run: RunQuery, dialect: Dialect) {
  return async (walletId: string): Promise<WalletSummary | undefined> => {
    if (!isStorable(walletId)) return undefined;
    const values = createValues(dialect);
    const sql = `SELECT ${COLUMNS} FROM wallets WHERE wallet_id = ${values.add(walletId)}`;
    const [row] = await run({ sql, values: values.all });
    return row && readSummary(row);
  };
}

export function createBalancesRead(run: RunQuery, dialect: Dialect) {
  const wallet = createWalletRead(run, dialect);
  return async (walletId: string): Promise<Balances> => {
    const found = await wallet(walletId);
    if (!found) throw new LedgerError("wallet_not_found");
    return found.balances;
  };
}

/** Sorted by id, by its bytes. */
export function createWalletList(run: RunQuery, dialect: Dialect) {
  return async (page: PageRequest): Promise<Page<WalletSummary>> => {
    const { after, rowsMax } = readPage(LIST, page);
    const values = createValues(dialect);
    const condition = after === undefined ? "" : `WHERE wallet_id > ${values.add(after)}`;
    const sql = `SELECT ${COLUMNS} FROM wallets ${condition} ORDER BY wallet_id LIMIT ${values.add(rowsMax)}`;
    const rows = await run({ sql, values: values.all });
    return createPage(LIST, page, { rows, read: readSummary, positionOf: ({ walletId }) => walletId });
  };
}

function readSummary(row: Row): WalletSummary {
  // Safe because the statement selects these columns, which have the schema's types.
  const { wallet_id, posted, held, credit_limit, state, created_at_ms } = row as unknown as Omit<
    WalletRow,
    "last_seq"
  >;
  const balances = balancesOf({ posted, held, creditLimit: credit_limit });
  return {
    walletId: wallet_id,
    state,
    balances,
    creditLimit: credit_limit,
    createdAtMs: Number(created_at_ms),
  };
}
