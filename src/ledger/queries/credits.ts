import { Credits, creditsOf, withCredits } from "../core/credits.ts";
import { endCredits } from "../core/spend-credits.ts";
import { LedgerError } from "../ledger.ts";
import type { Credit, CreditFilter, Page, PageRequest } from "../records.ts";
import {
  createPage,
  createValues,
  type Dialect,
  isStorable,
  type PagedList,
  type Row,
  type RunQuery,
  readPage,
} from "./query.ts";
import { CREDIT_COLUMNS, type CreditRow, readCredit, readWallet, type WalletRow } from "./rows.ts";

/** The credits of a wallet, newest first, or those with something left in the order of spending. */
export function createCreditList(run: RunQuery, dialect: Dialect, now: () => number) {
  return async (
    walletId: string,
    page: PageRequest,
    { isLive = false }: CreditFilter = {},
  ): Promise<Page<Credit>> => {
    if (!isStorable(walletId)) throw new LedgerError("invalid_query");
    const list: PagedList = { name: ["credits", walletId, { isLive }], isPosition };
    const { after, rowsMax } = readPage(list, page);
    const current = await readCurrent(run, dialect, walletId, now());
    const live = current?.live.slice(0, page.size) ?? [];
    if (!current || isLive) return { items: live, nextToken: undefined };
    const values = createValues(dialect);
    const from = after === undefined ? "" : `AND c.seq < ${values.add(BigInt(after))}`;
    const sql = `SELECT ${CREDIT_COLUMNS} FROM credits c WHERE c.wallet_id = ${values.add(walletId)} ${from}
      ORDER BY c.seq DESC LIMIT ${values.add(rowsMax)}`;
    const rows = await run({ sql, values: values.all });
    // Safe because the statement selects these columns, which have the schema's types.
    const read = (row: Row) => latestOf(readCredit(row as unknown as CreditRow), current);
    const found = createPage(list, page, { rows, read, positionOf: ({ seq }) => `${seq}` });
    return rows.length === 0 && after === undefined ? { ...found, items: live } : found;
  };
}

function isPosition(text: string): boolean {
  return /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text));
}

/** A row may not have what is left now: the newest credit's follows from the balance, and ends may not be booked. */
function latestOf(stored: Credit, current: Credits): Credit {
  return current.get(stored.seq) ?? stored;
}

/** Returns the live credits of a wallet and those that end now, and the newest one; `undefined` for an unknown wallet. */
async function readCurrent(
  run: RunQuery,
  dialect: Dialect,
  walletId: string,
  nowMs: number,
): Promise<Credits | undefined> {
  const values = createValues(dialect);
  // One statement: the balance and the credits of one moment.
  const sql = `SELECT ${CREDIT_COLUMNS}, w.posted, w.held, w.credit_limit, w.state, w.last_seq, w.newest_credit,
      w.newest_hold_ms, w.created_at_ms AS wallet_created_at_ms,
      CASE WHEN w.mixed THEN CAST(1 AS bigint) ELSE CAST(0 AS bigint) END AS mixed
    FROM wallets w LEFT JOIN credits c ON c.wallet_id = w.wallet_id AND (c.live OR c.seq = w.newest_credit)
    WHERE w.wallet_id = ${values.add(walletId)}`;
  // Safe because the statement selects these columns, which have the schema's types.
  const rows = (await run({ sql, values: values.all })) as unknown as readonly LiveRow[];
  const [first] = rows;
  if (!first) return undefined;
  const stored = new Credits(rows.filter(({ seq }) => seq !== null).map(readCredit));
  const wallet = readWallet({ ...first, wallet_id: walletId, created_at_ms: first.wallet_created_at_ms });
  const credits = creditsOf({ wallet, credits: stored });
  return withCredits(credits, endCredits({ wallet, credits }, nowMs)?.credits ?? []);
}

/** A row of the wallet, with a credit or nulls. */
interface LiveRow extends Omit<WalletRow, "wallet_id" | "created_at_ms">, CreditRow {
  readonly wallet_created_at_ms: bigint;
}
