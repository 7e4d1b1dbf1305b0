import type { Wallet } from "../core/book.ts";
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
import { type CreditRow, readCredit } from "./rows.ts";

const CREDIT_COLUMNS = `c.wallet_id, c.seq, c.credit_id, c.source, c.amount, c.left_amount, c.expired, c.expires_at_ms,
  c.created_at_ms, c.claims, c.ended_at_ms`;

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
  const sql = `SELECT ${CREDIT_COLUMNS}, w.posted, w.held, w.newest_credit, w.newest_hold_ms,
      w.created_at_ms AS wallet_created_at_ms,
      CASE WHEN w.mixed THEN 1 ELSE 0 END AS mixed
    FROM wallets w LEFT JOIN credits c ON c.wallet_id = w.wallet_id AND (c.live OR c.seq = w.newest_credit)
    WHERE w.wallet_id = ${values.add(walletId)}`;
  // Safe because the statement selects these columns, which have the schema's types.
  const rows = (await run({ sql, values: values.all })) as unknown as readonly LiveRow[];
  const [first] = rows;
  if (!first) return undefined;
  const stored = new Credits(rows.filter(({ seq }) => seq !== null).map(readCredit));
  const wallet = walletOf(walletId, first);
  const credits = creditsOf({ wallet, credits: stored });
  return withCredits(credits, endCredits({ wallet, credits }, nowMs)?.credits ?? []);
}

interface LiveRow extends CreditRow {
  readonly posted: bigint;
  readonly held: bigint;
  readonly newest_credit: bigint;
  readonly newest_hold_ms: bigint;
  readonly mixed: bigint | number;
  readonly wallet_created_at_ms: bigint;
}

function walletOf(walletId: string, row: LiveRow): Wallet {
  return {
    walletId,
    posted: row.posted,
    held: row.held,
    creditLimit: 0n,
    state: "active",
    lastSeq: 0,
    createdAtMs: Number(row.wallet_created_at_ms),
    newestCredit: Number(row.newest_credit),
    isMixed: Number(row.mixed) === 1,
    newestHoldMs: Number(row.newest_hold_ms),
  };
}
