import { OTHER } from "../../db/usage-columns.ts";
import { DAY_MS } from "../../domain/id-time.ts";
import { NO_TOTALS_MS } from "../queries/coverage.ts";
import type { Dialect } from "../queries/query.ts";
import { FURTHER } from "../queries/scope-columns.ts";
import { partsOf, selectDiffering, sumsDiffer } from "../queries/usage-columns.ts";
import type { Invariant, WalletRange } from "./invariants.ts";

const AMOUNTS = ["captured", "refunded"];

/**
 * U8, of days whose receipts are kept and whose hours are fresh. Each scope is compared with its receipts; where a kind
 * has a row of others, all scopes of the kind are compared as one.
 */
export function scopeDaysEqualReceipts(dialect: Dialect, range: WalletRange): Invariant {
  const { idTimeMs, elements, item, json } = dialect;
  const startMs = `CAST(${idTimeMs("hold_id")} / ${DAY_MS} * ${DAY_MS} AS bigint)`;
  const kind = `replace(kind, '${FURTHER}', '')`;
  const crowded = `SELECT wallet_id, start_ms, ${kind} FROM usage_scope_days
    WHERE scope_id = '${OTHER}' AND ${range("wallet_id")}`;
  const key = `wallet_id, start_ms, ${kind} AS kind,
    CASE WHEN (wallet_id, start_ms, ${kind}) IN (${crowded}) THEN '${OTHER}' ELSE scope_id END AS scope_id`;
  return {
    id: "U8",
    claim: "usage by scope and day adds up to the receipts",
    sql: selectDiffering(
      "wallet_id, CAST(start_ms AS text) AS subject",
      {
        keys: ["wallet_id", "start_ms", "kind", "scope_id"],
        one: `SELECT ${key}, ${sumsOfScopes("")} FROM usage_scope_days WHERE ${range("wallet_id")} GROUP BY 1, 2, 3, 4`,
        other: `SELECT ${key}, ${sumsOfScopes("kept_")} FROM (
          SELECT lists.*, (${item(0, "text")}) AS kind, (${item(1, "text")}) AS scope_id FROM (
            SELECT wallet_id, ${startMs} AS start_ms, ${json("scopes")} AS scopes, count(*) AS requests,
              ${AMOUNTS.map((amount) => sumParts(amount, partsOf(amount))).join(", ")}
            FROM holds WHERE scopes IS NOT NULL AND ${range("wallet_id")} GROUP BY 1, 2, 3
          ) AS lists CROSS JOIN ${elements("lists.scopes")}
        ) AS scoped GROUP BY 1, 2, 3, 4`,
      },
      `start_ms >= (SELECT CASE WHEN scopes_version = version THEN scopes_from_ms ELSE ${NO_TOTALS_MS} END
          FROM usage_cursor)
        AND start_ms < (SELECT scopes_to_ms FROM usage_cursor)
        AND start_ms >= (SELECT receipts_from_ms FROM retention)
        AND (wallet_id, start_ms) NOT IN (SELECT wallet_id, start_ms / ${DAY_MS} * ${DAY_MS} FROM usage_stale)
        AND (coalesce(requests, 0) <> coalesce(kept_requests, 0)
          OR ${AMOUNTS.map((amount) => sumsDiffer(amount, "kept")).join(" OR ")})`,
    ),
  };
}

function sumsOfScopes(prefix: string): string {
  const amounts = AMOUNTS.map((amount) => sumParts(prefix + amount, [`${amount}_high`, `${amount}_low`]));
  return [`sum(requests) AS ${prefix}requests`, ...amounts].join(", ");
}

function sumParts(amount: string, [high, low]: readonly [high: string, low: string]): string {
  return `sum(${high}) AS ${amount}_high, sum(${low}) AS ${amount}_low`;
}
