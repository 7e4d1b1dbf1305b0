import type { Database } from "bun:sqlite";
import books from "./migrations/0000_books.sql" with { type: "text" };
import appendOnly from "./migrations/0001_append-only.sql" with { type: "text" };
import chargesAndZones from "./migrations/0002_charges-and-zones.sql" with { type: "text" };
import inOrderOfTime from "./migrations/0003_in-order-of-time.sql" with { type: "text" };
import gateways from "./migrations/0004_gateways.sql" with { type: "text" };

/** Every migration in order; what drizzle-kit generates is listed here by hand, which a test checks. */
export const MIGRATIONS: readonly string[] = [books, appendOnly, chargesAndZones, inOrderOfTime, gateways];

/**
 * Brings a database up to date, once, also when several processes start together. Throws when the
 * database was written by a newer program. Drizzle's own migrator reads what was applied before it
 * takes the lock, so two starts would both apply; here `user_version` counts under the lock.
 */
export function migrate(client: Database): void {
  if (appliedCount(client) === MIGRATIONS.length) return;
  client
    .transaction(() => {
      for (const migration of MIGRATIONS.slice(appliedCount(client))) client.run(migration);
      client.run(`PRAGMA user_version = ${MIGRATIONS.length}`);
    })
    .immediate();
}

function appliedCount(client: Database): number {
  const applied = Number(client.query("PRAGMA user_version").values()[0]?.[0]);
  if (applied > MIGRATIONS.length) {
    throw new Error(
      `Cannot open the database: it is at version ${applied}, this program knows ${MIGRATIONS.length}. Use a newer tollgate.`,
    );
  }
  return applied;
}
