import { existsSync, realpathSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { eq } from "drizzle-orm";
import type { Database } from "./database.ts";
import type { PostgresDatabase } from "./postgres/database.ts";
import { connect, isOpenElsewhere } from "./sqlite/database.ts";

/** Which database this is. A restored copy has an id of its own. */
export interface Instance {
  /** 32 hex digits. */
  readonly id: string;
  /** 1, and one more with each restore. */
  readonly epoch: number;
  /** The instance whose backup was restored. Its settlements may be replayed here: it no longer runs. */
  readonly restoredFrom: string | undefined;
}

/** The id of the only row. */
const ROW = "this";

/** Reads which database this is. */
export async function readInstance(database: Database): Promise<Instance> {
  const { instanceId, epoch, restoredFrom } = await readRow(database);
  return { id: instanceId, epoch, restoredFrom: restoredFrom ?? undefined };
}

/**
 * Records that this machine serves the database, and reads which one it is. Throws when the database is a copy
 * whose original is in use, or may be: two of them would both charge.
 */
export async function claimInstance(database: Database): Promise<Instance> {
  const { servedAt } = await readRow(database);
  const place = await placeOf(database);
  if (servedAt !== place) {
    const isCopy = servedAt !== null && servedAt !== UNKNOWN && place !== UNKNOWN;
    if (isCopy) await refuseCopy(database, servedAt);
    await recordPlace(database, place);
  }
  return readInstance(database);
}

/** A full disk must not keep a gateway from starting: without the record, only later copies go unnoticed. */
async function recordPlace({ transact, tables: { instance } }: Database, servedAt: string): Promise<void> {
  const record = transact(async (tx) => {
    await tx.update(instance).set({ servedAt }).where(eq(instance.id, ROW));
  });
  await record.catch(() => undefined);
}

async function readRow({ db, tables: { instance } }: Database) {
  const [row] = await db.select().from(instance).where(eq(instance.id, ROW));
  if (!row) throw new Error("Cannot use the database: its table instance has no row");
  return row;
}

/** The place of a database whose server cannot be identified. */
const UNKNOWN = "unknown";

/** Stands before the place of the original, from the restore of a SQLite file until the first start of the copy. */
export const RESTORED = "restored:";

/** Returns the place by which this database differs from its copies: host and path, or the server. */
async function placeOf(database: Database): Promise<string> {
  return database.dialect === "sqlite" ? placeOfFile(database.sqlite.path) : placeOfServer(database.postgres);
}

function placeOfFile(path: string): string {
  return `${hostname()}:${realpathSync(path)}`;
}

/** A dump that is restored has another number. A standby that is promoted keeps both. */
async function placeOfServer({ client }: PostgresDatabase): Promise<string> {
  try {
    const [row] = await client.unsafe(
      `SELECT (SELECT system_identifier FROM pg_control_system()) || '/' || oid AS place
        FROM pg_database WHERE datname = current_database()`,
    );
    return row.place;
  } catch {
    // Some hosted servers do not permit the function.
    return UNKNOWN;
  }
}

async function refuseCopy(database: Database, servedAt: string): Promise<void> {
  if (database.dialect === "postgres") {
    throw new Error(
      "Cannot use the database: it is a copy, and gateways may still use the original. " +
        "When none does, run: bun tollgate restore --in-place",
    );
  }
  const isRestored = servedAt.startsWith(RESTORED);
  const original = originalOf(isRestored ? servedAt.slice(RESTORED.length) : servedAt);
  if (original === undefined || isSameFile(original, database.sqlite.path)) return;
  if (!isOpenElsewhere(original)) return;
  const { instanceId, restoredFrom } = await readRow(database);
  if (instanceOf(original) !== (isRestored ? restoredFrom : instanceId)) return;
  if (isRestored) {
    throw new Error(
      `Cannot use the database: it was restored from ${original}, which is in use. Stop that for good first.`,
    );
  }
  throw new Error(
    `Cannot use the database: it is a copy of ${original}, which is in use. ` +
      "When that is stopped for good, run: bun tollgate restore --in-place",
  );
}

/** Returns the path of the file that was served on this machine; `undefined` for that of another one. */
function originalOf(servedAt: string): string | undefined {
  const prefix = `${hostname()}:`;
  return servedAt.startsWith(prefix) ? servedAt.slice(prefix.length) : undefined;
}

/** A mount may show one file under two paths. */
function isSameFile(one: string, other: string): boolean {
  if (!existsSync(one)) return false;
  const [first, second] = [statSync(one), statSync(other)];
  return first.ino === second.ino && first.dev === second.dev;
}

function instanceOf(path: string): string | undefined {
  const client = connect(path, 0);
  try {
    return client.query<{ id: string }, []>("SELECT instance_id AS id FROM instance").get()?.id;
  } catch {
    return undefined;
  } finally {
    client.close();
  }
}
