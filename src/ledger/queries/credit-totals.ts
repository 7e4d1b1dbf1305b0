import { type CreditSource, isCreditSource } from "../../domain/credit.ts";
import { ACCOUNTS, TRANSFER_KINDS } from "../core/book.ts";
import { isTime } from "../core/validate.ts";
import { LedgerError } from "../ledger.ts";
import type { CreditTotal, CreditTotalsQuery } from "../records.ts";
import { createValues, type Dialect, isStorable, type Row, type RunQuery } from "./query.ts";
import { timesOf } from "./transfers.ts";
import { PART, partsOf } from "./usage-columns.ts";

const { topUp: TOP_UP, creditExpiry: CREDIT_EXPIRY } = TRANSFER_KINDS;

/** Sums what top-ups granted and what ends took, by the sources of the credits, from the index of both. */
export function createCreditTotalsRead(run: RunQuery, dialect: Dialect) {
  return async (query: CreditTotalsQuery): Promise<readonly CreditTotal[]> => {
    checkQuery(query);
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

function checkQuery({ walletId, fromMs, toMs }: CreditTotalsQuery): void {
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
