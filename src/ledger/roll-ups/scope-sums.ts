import { OTHER } from "../../db/usage-columns.ts";
import { DAY_MS, firstIdOf, HOUR_MS } from "../../domain/id-time.ts";
import { createValues, type Dialect, type Query, type Row, type RunQuery } from "../queries/query.ts";
import { FURTHER } from "../queries/scope-columns.ts";
import { OK_OF_RECEIPTS, SUMS_OF_RECEIPTS } from "../queries/usage-columns.ts";
import { columnsOf, measuresOf, type Scope } from "./aggregate.ts";
import { goesOn, type RollUpJob, type RollUpValue, type ScopePosition } from "./store.ts";

// Sums of one UTC day by scope, added up hour by hour in a temporary table: a statement over a whole day would take
// too long, and a day may have more scopes than fit into memory.

/** What is summed up of a scope: the columns of scope days after their keys. */
const SUMMED = columnsOf("usage_scope_days").slice(4);

/** `first_id` is the first hold of a scope. */
const CREATE: readonly string[] = [
  "DROP TABLE IF EXISTS scope_sums",
  `CREATE TEMPORARY TABLE scope_sums AS
    SELECT wallet_id, kind, scope_id, scope_id AS first_id, ${SUMMED.join(", ")} FROM usage_scope_days LIMIT 0`,
  "CREATE UNIQUE INDEX scope_sums_key ON scope_sums (wallet_id, kind, scope_id)",
];

/**
 * Sums up the receipts of a UTC day by wallet and scope. Returns `false` when the process stops, or another one took the lease. Without
 * a wallet, it leaves out wallets with stale hours in the day: they are summed up when the last of them is fresh.
 */
export async function sumScopes(
  job: Pick<RollUpJob, "store" | "ownRowsMax" | "signal">,
  run: RunQuery,
  day: Scope,
): Promise<boolean> {
  const { store, ownRowsMax } = job;
  for (const sql of CREATE) await run({ sql, values: [] });
  for (let startMs = day.startMs; startMs < day.startMs + DAY_MS; startMs += HOUR_MS) {
    await run(hourQuery(store.dialect, day, startMs));
    if (!(await goesOn(job))) return false;
  }
  const crowded = `SELECT wallet_id, kind FROM scope_sums GROUP BY 1, 2 HAVING count(*) > ${ownRowsMax}`;
  for (const { wallet_id, kind } of await run({ sql: crowded, values: [] })) {
    await joinOthers(run, store.dialect, { walletId: String(wallet_id), kind: String(kind), ownRowsMax });
  }
  return true;
}

/** Adds the receipts of an hour. Equal lists of scopes are joined first: there are fewer of them than receipts. */
function hourQuery(dialect: Dialect, { startMs: dayMs, walletId }: Scope, startMs: number): Query {
  const values = createValues(dialect);
  const { json, elements, item } = dialect;
  const [kind, id] = [`(${item(0, "text")})`, `(${item(1, "text")})`];
  const conditions = [
    `hold_id >= ${values.add(firstIdOf(startMs))}`,
    `hold_id < ${values.add(firstIdOf(startMs + HOUR_MS))}`,
    "scopes IS NOT NULL",
    walletId === undefined
      ? `wallet_id NOT IN (SELECT wallet_id FROM usage_stale
          WHERE start_ms >= ${values.add(dayMs)} AND start_ms < ${values.add(dayMs + DAY_MS)})`
      : `wallet_id = ${values.add(walletId)}`,
  ];
  const lists = `SELECT wallet_id, ${json("scopes")} AS scopes, min(CAST(hold_id AS text)) AS first_id,
      ${[OK_OF_RECEIPTS, ...SUMS_OF_RECEIPTS].join(", ")}
    FROM holds WHERE ${conditions.join(" AND ")} GROUP BY 1, 2`;
  const scopes = `SELECT lists.*, ${kind} AS kind, ${id} AS scope_id
    FROM (${lists}) AS lists CROSS JOIN ${elements("lists.scopes")}`;
  const sql = `INSERT INTO scope_sums (wallet_id, kind, scope_id, first_id, ${SUMMED.join(", ")})
    SELECT wallet_id, ${kindOf(dialect)}, scope_id, min(first_id),
      ${SUMMED.map((name) => `coalesce(sum(${name}), 0)`).join(", ")}
    FROM (${scopes}) AS scopes_of GROUP BY 1, 2, 3
    ON CONFLICT (wallet_id, kind, scope_id) DO UPDATE SET
      ${SUMMED.map((name) => `${name} = scope_sums.${name} + excluded.${name}`).join(", ")}`;
  return { sql, values: values.all };
}

/** SQL for the kind in scope days of the scope `scope_id` of a `kind`, of a list `scopes`. */
function kindOf({ elements, item, firstPart }: Dialect): string {
  const [kind, id] = [`(${item(0, "text")})`, `(${item(1, "text")})`];
  const isSameKey = `(kind <> 'tag' OR ${firstPart(id, "=")} = ${firstPart("scope_id", "=")})`;
  const first = `(SELECT ${id} FROM ${elements("scopes")} WHERE ${kind} = kind AND ${isSameKey} LIMIT 1)`;
  // Most lists have one of a kind, which their texts show at less cost.
  const begin = `'["' || kind || '",%'`;
  return `CASE WHEN scopes LIKE '%' || ${begin} || ${begin} AND scope_id <> ${first}
    THEN kind || '${FURTHER}' ELSE kind END`;
}

interface CrowdedKind {
  readonly walletId: string;
  readonly kind: string;
  readonly ownRowsMax: number;
}

/** Joins the scopes of a kind after the first ones, in the order of their first holds, in one row. */
async function joinOthers(
  run: RunQuery,
  dialect: Dialect,
  { walletId, kind, ownRowsMax }: CrowdedKind,
): Promise<void> {
  const values = createValues(dialect);
  const ofKind = `wallet_id = ${values.add(walletId)} AND kind = ${values.add(kind)}`;
  const [first] = await run({
    sql: `SELECT first_id, scope_id FROM scope_sums WHERE ${ofKind}
      ORDER BY first_id, scope_id LIMIT 1 OFFSET ${ownRowsMax}`,
    values: values.all,
  });
  if (!first) return;
  const position = `(${values.add(String(first.first_id))}, ${values.add(String(first.scope_id))})`;
  const condition = `${ofKind} AND (first_id, scope_id) >= ${position}`;
  const sums = SUMMED.map((name) => `sum(${name})`).join(", ");
  const insert = `INSERT INTO scope_sums (wallet_id, kind, scope_id, first_id, ${SUMMED.join(", ")})
    SELECT wallet_id, kind, '${OTHER}', '', ${sums} FROM scope_sums WHERE ${condition} GROUP BY 1, 2`;
  await run({ sql: insert, values: values.all });
  await run({ sql: `DELETE FROM scope_sums WHERE ${condition}`, values: values.all });
}

/** A row of the temporary table. */
export interface ScopeSums extends ScopePosition {
  readonly walletId: string;
  readonly values: readonly RollUpValue[];
}

/** Reads the next sums, in the order of their wallets, kinds and ids. */
export async function readSums(
  run: RunQuery,
  dialect: Dialect,
  { after, rowsMax }: { readonly after: Omit<ScopeSums, "values"> | undefined; readonly rowsMax: number },
): Promise<readonly ScopeSums[]> {
  const values = createValues(dialect);
  const { walletId, kind, id } = after ?? { walletId: "", kind: "", id: "" };
  const position = [walletId, kind, id].map((text) => values.add(text)).join(", ");
  const sql = `SELECT wallet_id, kind, scope_id, ${dialect.array(SUMMED)} AS measures FROM scope_sums
    WHERE (wallet_id, kind, scope_id) > (${position}) ORDER BY wallet_id, kind, scope_id LIMIT ${rowsMax}`;
  return (await run({ sql, values: values.all })).map(readRow);
}

function readRow(row: Row): ScopeSums {
  return {
    walletId: String(row.wallet_id),
    kind: String(row.kind),
    id: String(row.scope_id),
    values: measuresOf(row, SUMMED),
  };
}
