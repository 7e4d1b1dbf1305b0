import { isUuid } from "../../domain/id-time.ts";
import { LedgerError } from "../ledger.ts";
import type { Page, PageRequest, RunningHold, RunningTotals } from "../records.ts";
import {
  createPage,
  createValues,
  type Dialect,
  isStorable,
  type PagedList,
  type Row,
  type RunQuery,
  readPage,
  type Values,
} from "./query.ts";
import type { HoldRow } from "./rows.ts";

const COLUMNS = "wallet_id, hold_id, key_id, model, granted, accrued, created_at_ms, expires_at_ms";
/** The condition of the index of open holds. */
const OPEN = "state = 'held'";
const UUID_LENGTH = 36;

import { PART } from "./usage-columns.ts";

/** Open holds, oldest first by the time in their ids. */
export function createRunningHoldList(run: RunQuery, dialect: Dialect) {
  return async (walletId: string | undefined, page: PageRequest): Promise<Page<RunningHold>> => {
    const values = createValues(dialect);
    const conditions = openOf(walletId, values);
    const list: PagedList = { name: ["running holds", walletId ?? null], isPosition };
    const { after, rowsMax } = readPage(list, page);
    if (after !== undefined) {
      const holdId = values.add(after.slice(0, UUID_LENGTH));
      const next = values.add(after.slice(UUID_LENGTH + 1));
      conditions.push(`hold_id >= ${holdId} AND (hold_id > ${holdId} OR wallet_id > ${next})`);
    }
    const sql = `SELECT ${COLUMNS} FROM ${dialect.openHolds} WHERE ${conditions.join(" AND ")}
      ORDER BY hold_id, wallet_id LIMIT ${values.add(rowsMax)}`;
    const rows = await run({ sql, values: values.all });
    return createPage(list, page, { rows, read: readRunning, positionOf });
  };
}

export function createRunningTotalsRead(run: RunQuery, dialect: Dialect) {
  return async (walletId: string | undefined): Promise<readonly RunningTotals[]> => {
    const values = createValues(dialect);
    const conditions = openOf(walletId, values);
    const sql = `SELECT wallet_id, count(*) AS count, sum(granted / ${PART}) AS high, sum(granted % ${PART}) AS low,
      min(created_at_ms) AS oldest FROM ${dialect.openHolds} WHERE ${conditions.join(" AND ")}
      GROUP BY wallet_id ORDER BY wallet_id`;
    const rows = await run({ sql, values: values.all });
    return rows.map((row) => ({
      walletId: String(row.wallet_id),
      count: Number(row.count),
      granted: BigInt(String(row.high)) * PART + BigInt(String(row.low)),
      oldestCreatedAtMs: Number(row.oldest),
    }));
  };
}

function openOf(walletId: string | undefined, values: Values): string[] {
  if (walletId === undefined) return [OPEN];
  if (!isStorable(walletId)) throw new LedgerError("invalid_query");
  return [OPEN, `wallet_id = ${values.add(walletId)}`];
}

function isPosition(text: string): boolean {
  return isUuid(text.slice(0, UUID_LENGTH)) && text[UUID_LENGTH] === " " && isStorable(text);
}

function positionOf({ holdId, walletId }: RunningHold): string {
  return `${holdId} ${walletId}`;
}

function readRunning(given: Row): RunningHold {
  // Safe because the statement selects these columns, which have the schema's types.
  const row = given as unknown as RunningRow;
  return {
    walletId: row.wallet_id,
    holdId: row.hold_id,
    keyId: row.key_id,
    model: row.model,
    granted: row.granted,
    accrued: row.accrued,
    createdAtMs: Number(row.created_at_ms),
    expiresAtMs: Number(row.expires_at_ms),
  };
}

type RunningRow = Pick<
  HoldRow,
  "wallet_id" | "hold_id" | "key_id" | "model" | "granted" | "accrued" | "created_at_ms" | "expires_at_ms"
>;
