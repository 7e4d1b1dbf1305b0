import type { ScopeKind } from "../../domain/scope.ts";
import { ACCOUNTS } from "../core/book.ts";
import { LedgerError } from "../ledger.ts";
import type { TransferTotal, TransferTotalsQuery } from "../records.ts";
import { createValues, type Dialect, isStorable, type Row, type RunQuery, type Values } from "./query.ts";
import { isScopeDimension, scopeOf } from "./scope-columns.ts";
import { CLOCK_SLACK_MS, checkRange, createPositionSearch, kindOf, timesOf } from "./transfers.ts";
import { PART, partsOf } from "./usage-columns.ts";

/** The transfers that one statement sums up, so that a month holds no reader for seconds. */
const SUMMED_MAX = 50_000;
const TOTALS_MAX = 10_000;

/**
 * Sums the transfers of a range by kind and scope, piece by piece. Transfers never change, so that the pieces are
 * exact together: every transfer up to the newest one of the beginning counts once.
 */
export function createTransferTotalsRead(run: RunQuery, dialect: Dialect) {
  return async (walletId: string, query: TransferTotalsQuery): Promise<readonly TransferTotal[]> => {
    checkQuery(walletId, query);
    const source: Source = { run, dialect, walletId };
    const totals = new Map<string, TransferTotal>();
    let { after, last } = await findEnds(source, query);
    while (after < last) {
      const end = await findPieceEnd(source, { after, last });
      for (const row of await sumPiece(source, query, { after, last: end })) add(totals, readTotal(row));
      if (totals.size > TOTALS_MAX) throw new LedgerError("invalid_query");
      after = end;
    }
    return [...totals.values()];
  };
}

interface Source {
  readonly run: RunQuery;
  readonly dialect: Dialect;
  readonly walletId: string;
}

/** Positions in the order of a wallet's transfers: above `after`, up to `last`. */
interface Piece {
  readonly after: number;
  readonly last: number;
}

function checkQuery(walletId: string, { by, tagKey, ...range }: TransferTotalsQuery): void {
  checkRange(walletId, range);
  const isKind = by === "key" || isScopeDimension(by);
  const hasKey = by !== "tag" || (tagKey !== undefined && isStorable(tagKey));
  if (!isKind || !hasKey) throw new LedgerError("invalid_query");
}

async function findEnds({ run, dialect, walletId }: Source, range: TransferTotalsQuery): Promise<Piece> {
  const { fromMs = 0, toMs } = range;
  const { firstFrom } = createPositionSearch(run, dialect, walletId);
  const first = await firstFrom(Math.max(fromMs - CLOCK_SLACK_MS, 0));
  const next = await firstFrom(toMs === undefined ? Number.MAX_SAFE_INTEGER : toMs + CLOCK_SLACK_MS);
  return { after: first - 1, last: next - 1 };
}

async function findPieceEnd({ run, dialect, walletId }: Source, { after, last }: Piece): Promise<number> {
  const { transferOrder: order } = dialect;
  const values = createValues(dialect);
  const sql = `SELECT ${order} AS position FROM transfers WHERE wallet_id = ${values.add(walletId)}
    AND ${order} > ${values.add(after)} AND ${order} <= ${values.add(last)}
    ORDER BY ${order} LIMIT 1 OFFSET ${SUMMED_MAX - 1}`;
  const [row] = await run({ sql, values: values.all });
  return row ? Number(row.position) : last;
}

async function sumPiece(
  { run, dialect, walletId }: Source,
  query: TransferTotalsQuery,
  { after, last }: Piece,
): Promise<readonly Row[]> {
  const { transferOrder: order } = dialect;
  const values = createValues(dialect);
  // No id has a line feed.
  const key = query.splitsKeys ? " || '\n' || holds.key_id" : "";
  // By a subquery for each transfer, so that its receipt is found by the primary key, whatever the planner expects.
  const scope = `(SELECT coalesce(${scopeColumn(query, values, dialect)}, '')${key} FROM holds
    WHERE holds.wallet_id = transfers.wallet_id AND holds.hold_id = transfers.hold_id)`;
  const conditions = [
    `wallet_id = ${values.add(walletId)}`,
    `${order} > ${values.add(after)}`,
    `${order} <= ${values.add(last)}`,
    ...timesOf(query, values),
  ];
  const isCredit = `CASE WHEN credit_account = ${ACCOUNTS.wallet} THEN 1 ELSE 0 END`;
  const hasHold = "CASE WHEN hold_id IS NULL THEN 0 ELSE 1 END";
  const [high, low] = partsOf("amount");
  const sql = `SELECT kind, is_credit, has_hold, scope, count(*) AS count, sum(${high}) AS high, sum(${low}) AS low
    FROM (SELECT kind, ${isCredit} AS is_credit, ${hasHold} AS has_hold, amount, ${scope} AS scope
      FROM transfers WHERE ${conditions.join(" AND ")}) AS found
    GROUP BY kind, is_credit, has_hold, scope`;
  return run({ sql, values: values.all });
}

/** No id of a scope is empty: an empty text stands for a receipt without one, NULL for no receipt. */
function scopeColumn({ by, tagKey }: TransferTotalsQuery, values: Values, dialect: Dialect): string {
  return isDimension(by) ? scopeOf(by, { values, dialect, tagKey }) : "holds.key_id";
}

function isDimension(by: ScopeKind): by is Exclude<ScopeKind, "key"> {
  return by !== "key";
}

function readTotal(row: Row): TransferTotal {
  const isCredit = Number(row.is_credit) === 1;
  const sum = BigInt(String(row.high)) * PART + BigInt(String(row.low));
  const [scopeId, keyId] = typeof row.scope === "string" ? row.scope.split("\n") : [];
  return {
    kind: kindOf(row.kind, isCredit),
    scopeId: scopeId || undefined,
    keyId,
    isDropped: scopeId === undefined && Number(row.has_hold) === 1,
    amount: isCredit ? sum : -sum,
    transfers: Number(row.count),
  };
}

function add(totals: Map<string, TransferTotal>, more: TransferTotal): void {
  const place = JSON.stringify([more.kind, more.isDropped, more.scopeId ?? null, more.keyId]);
  const known = totals.get(place);
  if (!known) totals.set(place, more);
  else {
    const transfers = known.transfers + more.transfers;
    totals.set(place, { ...known, amount: known.amount + more.amount, transfers });
  }
}
