import type { SQL } from "bun";
import { LOCK_TIMEOUT_MS } from "./lock-waits.ts";

/** An index on a table that older programs may write to while it is built. */
export interface LaterIndex {
  readonly name: string;
  readonly table: string;
  /** The statement between the table's name and its end: method, columns, options and condition. */
  readonly definition: string;
  readonly isUnique: boolean;
}

/** A migration as it is applied: one transaction, then indexes outside of it. */
export interface MigrationParts {
  /** The older tables that the transaction locks. */
  readonly altered: readonly string[];
  readonly transaction: string;
  readonly indexes: readonly LaterIndex[];
}

const BREAKPOINT = "--> statement-breakpoint";
const CREATE_INDEX = /^CREATE (UNIQUE )?INDEX "(\w+)" ON "(\w+)" (USING .+?);?$/s;
const CREATE_TABLE = /^CREATE TABLE "(\w+)"/;
const ALTER_TABLE = /^ALTER TABLE "(\w+)"/;
const DROP_INDEX = /^DROP INDEX (?:IF EXISTS )?"(\w+)"/;

/** Parts a migration. An index on a table of the same migration stays in its transaction. */
export function partMigration(migration: string): MigrationParts {
  const statements = migration.split(BREAKPOINT);
  const created = new Set(statements.map((statement) => CREATE_TABLE.exec(withoutComments(statement))?.[1]));
  const indexes: LaterIndex[] = [];
  const rest = statements.filter((statement) => {
    const [, unique, name = "", table = "", definition = ""] =
      CREATE_INDEX.exec(withoutComments(statement)) ?? [];
    if (name === "" || created.has(table)) return true;
    indexes.push({ name, table, definition, isUnique: unique !== undefined });
    return false;
  });
  const altered = rest.flatMap((statement) => ALTER_TABLE.exec(withoutComments(statement))?.[1] ?? []);
  return {
    altered: [...new Set(altered)].filter((table) => !created.has(table)),
    transaction: rest.join(BREAKPOINT),
    indexes,
  };
}

/** Lists the indexes that exist after the given migrations and are built outside of transactions. */
export function laterIndexes(migrations: readonly string[]): readonly LaterIndex[] {
  const found = new Map<string, LaterIndex>();
  for (const migration of migrations) {
    for (const index of partMigration(migration).indexes) found.set(index.name, index);
    for (const statement of migration.split(BREAKPOINT)) {
      found.delete(DROP_INDEX.exec(withoutComments(statement))?.[1] ?? "");
    }
  }
  return [...found.values()];
}

function withoutComments(statement: string): string {
  return statement.replace(/^\s*--.*$/gm, "").trim();
}

/**
 * Returns the indexes that are missing, or invalid because a process ended while it built them. Reads the
 * database itself, so that no record of a build can differ from it.
 */
export async function missingIndexes(
  client: SQL,
  wanted: readonly LaterIndex[],
): Promise<readonly LaterIndex[]> {
  if (wanted.length === 0) return [];
  const valid: readonly { readonly name: string }[] = await client.unsafe(
    `SELECT c.relname::text AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
      WHERE i.indisvalid AND pg_table_is_visible(c.oid)`,
  );
  const names = new Set(valid.map(({ name }) => name));
  return wanted.filter(({ name }) => !names.has(name));
}

/**
 * Builds an index while the table is written to; may be repeated after any interruption. Runs statements that
 * PostgreSQL permits outside of transactions only.
 */
export async function buildIndex(client: SQL, index: LaterIndex): Promise<void> {
  const [table] = await client.unsafe(
    "SELECT relkind = 'p' AS is_partitioned FROM pg_class WHERE oid = $1::regclass",
    [index.table],
  );
  if (table?.is_partitioned) await buildOnPartitions(client, index);
  else await buildOnTable(client, index);
}

async function buildOnTable(client: SQL, { name, table, definition, isUnique }: LaterIndex): Promise<void> {
  const [found] = await client.unsafe(
    "SELECT indisvalid AS is_valid FROM pg_index WHERE indexrelid = to_regclass($1)",
    [`"${name}"`],
  );
  if (found?.is_valid) return;
  if (found) await client.unsafe(`DROP INDEX CONCURRENTLY IF EXISTS "${name}"`).simple();
  await client
    .unsafe(`CREATE ${isUnique ? "UNIQUE " : ""}INDEX CONCURRENTLY "${name}" ON "${table}" ${definition}`)
    .simple();
}

/**
 * PostgreSQL builds no index of a partitioned table concurrently. So an empty index of the whole takes one of
 * each partition, and becomes valid with the last.
 */
async function buildOnPartitions(client: SQL, index: LaterIndex): Promise<void> {
  const { name, table, definition, isUnique } = index;
  const create = isUnique ? "CREATE UNIQUE INDEX" : "CREATE INDEX";
  await lockBriefly(client, `${create} IF NOT EXISTS "${name}" ON ONLY "${table}" ${definition}`);
  for (const partition of await partitionsWithout(client, index)) {
    const part = `${partition}_${name}`;
    await buildOnTable(client, { ...index, name: part, table: partition });
    await lockBriefly(client, `ALTER INDEX "${name}" ATTACH PARTITION "${part}"`);
  }
}

/** Statements of one message are one transaction, so that a failure also takes the setting back. */
async function lockBriefly(client: SQL, statement: string): Promise<void> {
  await client.unsafe(`SET lock_timeout = ${LOCK_TIMEOUT_MS}; ${statement}; SET lock_timeout = 0`).simple();
}

async function partitionsWithout(client: SQL, { name, table }: LaterIndex): Promise<readonly string[]> {
  const rows: readonly { readonly name: string }[] = await client.unsafe(
    `SELECT c.relname::text AS name FROM pg_inherits p JOIN pg_class c ON c.oid = p.inhrelid
      WHERE p.inhparent = $1::regclass AND NOT EXISTS (SELECT FROM pg_inherits h JOIN pg_index i
        ON i.indexrelid = h.inhrelid WHERE h.inhparent = $2::regclass AND i.indrelid = p.inhrelid)`,
    [table, `"${name}"`],
  );
  return rows.map((row) => row.name);
}
