import { count, eq, lt, type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Database } from "./database.ts";
import { connect } from "./sqlite/database.ts";

/** A gateway that uses a database. */
export interface GatewayRow {
  readonly id: string;
  /** Whether the gateway counts limits in Redis, which gateways share. */
  readonly hasRedis: boolean;
  /** When the gateway last renewed its row, on the clock of the database. */
  readonly seenAtMs: number;
}

/** The running gateways of one database. Each renews a row of its own. */
interface GatewayRows {
  /**
   * Renews the row of a gateway, deletes the rows that were not renewed for `goneMs`, and returns the others.
   * Rejects when the database is locked or unavailable.
   */
  renew(gateway: Omit<GatewayRow, "seenAtMs">, goneMs: number): Promise<readonly GatewayRow[]>;
  remove(id: string): Promise<void>;
  close(): void;
}

interface Writer {
  readonly db: Database["db"];
  /** The current time of the database, in Unix milliseconds. */
  readonly now: SQL<number>;
  close(): void;
}

/** Milliseconds that opening waits for another process that opens the file at the same time. */
const START_MS = 2_000;
/** WAL pages at which a commit on this connection checkpoints. The ledger does it first, at half as many. */
const CHECKPOINT_PAGES = 8_000;

export function openGatewayRows(database: Database): GatewayRows {
  const { gateways } = database.tables;
  const { db, now, close } = openWriter(database);
  return {
    async renew({ id, hasRedis }, goneMs) {
      await db
        .insert(gateways)
        .values({ id, hasRedis, seenAtMs: now })
        .onConflictDoUpdate({ target: gateways.id, set: { hasRedis, seenAtMs: now } });
      await db.delete(gateways).where(lt(gateways.seenAtMs, sql`${now} - ${goneMs}`));
      return db.select().from(gateways);
    },
    async remove(id) {
      await db.delete(gateways).where(eq(gateways.id, id));
    },
    close,
  };
}

/** The number of gateways that renew their row, and of those that were killed lately. */
export async function countGateways({ db, tables }: Database): Promise<number> {
  const [row] = await db.select({ gateways: count() }).from(tables.gateways);
  return row?.gateways ?? 0;
}

/**
 * Returns a writer of gateway rows. In SQLite it has a connection of its own, which waits neither for a lock
 * nor for the disk: these rows may be lost, and must not block the event loop.
 */
function openWriter(database: Database): Writer {
  if (database.dialect === "postgres") {
    const now = sql<number>`(extract(epoch FROM clock_timestamp()) * 1000)::bigint`;
    return { db: database.db, now, close: () => undefined };
  }
  const client = connect(database.sqlite.path, START_MS);
  client.run("PRAGMA synchronous = NORMAL");
  client.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  client.run("PRAGMA busy_timeout = 0");
  const now = sql<number>`CAST(unixepoch('subsec') * 1000 AS INTEGER)`;
  return { db: drizzle(client), now, close: () => client.close() };
}
