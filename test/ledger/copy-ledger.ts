import type { Database } from "bun:sqlite";
import type { SQL } from "bun";

const TABLES = ["wallets", "transfers", "holds", "spend_limits", "limit_counters", "credits"];
/** JSON columns, whose text is copied unchanged. */
const JSON_COLUMNS: ReadonlySet<string> = new Set([
  "limits",
  "metadata",
  "settle_metadata",
  "attempts",
  "credits",
]);

/** Copies every row of a SQLite ledger into an empty PostgreSQL ledger. */
export async function copyLedger(from: Database, to: SQL): Promise<void> {
  for (const table of TABLES) {
    const rows = from.query<Record<string, unknown>, []>(`SELECT * FROM ${table}`).safeIntegers(true).all();
    const printed = `[${rows.map(printRow).join(",")}]`;
    await to.unsafe(
      `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1::text::json)`,
      [printed],
    );
  }
}

function printRow(row: Record<string, unknown>): string {
  const fields = Object.entries(row).map(
    ([name, value]) => `${JSON.stringify(name)}:${printValue(name, value)}`,
  );
  return `{${fields.join(",")}}`;
}

function printValue(name: string, value: unknown): string {
  if (typeof value === "bigint") return `${value}`;
  return JSON_COLUMNS.has(name) && typeof value === "string" ? value : JSON.stringify(value);
}
