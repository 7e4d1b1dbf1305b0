import { type CreditSource, isCreditSource } from "../../domain/credit.ts";
import { ACCOUNTS, TRANSFER_KINDS } from "../core/book.ts";
import { Credits, creditsOf, withCredits } from "../core/credits.ts";
import { endCredits } from "../core/spend-credits.ts";
import { isTime } from "../core/validate.ts";
import { LedgerError } from "../ledger.ts";
import type { Credit, CreditFilter, CreditTotal, CreditTotalsQuery, Page, PageRequest } from "../records.ts";
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
import { timesOf } from "./transfers.ts";
import { PART, partsOf } from "./usage-columns.ts";

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

const { topUp: TOP_UP, creditExpiry: CREDIT_EXPIRY } = TRANSFER_KINDS;

/** Sums what top-ups granted and what ends took, by the sources of the credits, from the index of both. */
export function createCreditTotalsRead(run: RunQuery, dialect: Dialect) {
  return async (query: CreditTotalsQuery): Promise<readonly CreditTotal[]> => {
    checkTotals(query);
    const values = createValues(dialect);
    const { walletId } = query;
    const conditions = [
      // The words of the condition of the index `transfers_granted`, which is used for no others.
      `kind IN (${TOP_UP}, ${CREDIT_EXPIRY})`,
      `(kind = ${CREDIT_EXPIRY} OR credit_account = ${ACCOUNTS.wallet})`,
      ...timesOf(query, values),
      ...(walletId === undefined ? [] : [`t.wallet_id = ${values.add(walletId)}`]),
    ];
    // The newest credit of a plain wallet is that of the top-up itself; others are named by the transfer.
    const named = `(SELECT ${dialect.item(0, "integer")} FROM ${dialect.elements("t.credits")} AS part LIMIT 1)`;
    const source = `(SELECT c.source FROM credits c WHERE c.wallet_id = t.wallet_id
      AND c.seq = CASE WHEN t.credits IS NULL THEN t.seq ELSE ${named} END)`;
    const [high, low] = partsOf("amount");
    const sql = `SELECT kind, source, count(*) AS count, sum(${high}) AS high, sum(${low}) AS low
      FROM (SELECT kind, amount, ${source} AS source FROM transfers t WHERE ${conditions.join(" AND ")}) AS found
      GROUP BY kind, source`;
    const totals = new Map<CreditSource, CreditTotal>();
    for (const row of await run({ sql, values: values.all })) addTo(totals, row);
    return [...totals.values()];
  };
}

function checkTotals({ walletId, fromMs, toMs }: CreditTotalsQuery): void {
  const isBound = (ms: number | undefined) => ms === undefined || isTime(ms);
  const isWallet = walletId === undefined || isStorable(walletId);
  if (!isWallet || !isBound(fromMs) || !isBound(toMs)) throw new LedgerError("invalid_query");
}

/** A row of one kind and source. A top-up from before credits were kept has no source: it was a purchase. */
function addTo(totals: Map<CreditSource, CreditTotal>, row: Row): void {
  const source = isCreditSource(row.source) ? row.source : "purchase";
  const known = totals.get(source) ?? { source, granted: 0n, grants: 0, expired: 0n, ends: 0 };
  const amount = BigInt(String(row.high)) * PART + BigInt(String(row.low));
  const count = Number(row.count);
  const isEnd = Number(row.kind) === CREDIT_EXPIRY;
  const more = isEnd
    ? { expired: known.expired + amount, ends: known.ends + count }
    : { granted: known.granted + amount, grants: known.grants + count };
  totals.set(source, { ...known, ...more });
}
