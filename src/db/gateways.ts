import { eq, lt, type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Database } from "./database.ts";
import { connect } from "./sqlite/database.ts";

/** A gateway that runs on a database. */
export interface GatewayRow {
  readonly id: string;
  /** Whether it counts limits in Redis, together with the others that do. */
  readonly hasRedis: boolean;
  /** When it last renewed its row, by the database's clock. */
  readonly seenAtMs: number;
}

/** The gateways that run on one database, each with a row that it renews. */
interface GatewayRows {
  /**
   * Renews a gateway's own row, drops those that nobody has renewed for `goneMs`, and returns the rest. Rejects
   * when the database cannot take it at this moment.
   */
  renew(gateway: Omit<GatewayRow, "seenAtMs">, goneMs: number): Promise<readonly GatewayRow[]>;
  remove(id: string): Promise<void>;
  close(): void;
}

interface Writer {
  readonly db: Database["db"];
  /** The database's clock, in Unix milliseconds. */
  readonly now: SQL<number>;
  close(): void;
}

/** How long opening the file waits for another process, which may be doing the same. */
const START_MS = 2_000;
/** Pages of the log at which a commit here tidies it up: so many that the ledger, whose work it is, comes first. */
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

/**
 * With SQLite a connection of its own, which neither waits for another process's lock nor for the disk: these
 * rows may be lost, and the event loop must not stand still for them.
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
