// Exports of usage: how far each one has come, and receipts that ended without a transfer.
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** One row per export. `version` grows with each move of its cursor. */
export const usageExports = sqliteTable("exports", {
  name: text("name").primaryKey(),
  version: integer("version").notNull(),
  createdAtMs: integer("created_at_ms").notNull(),
  /** The number of the last row of `export_ends` that was exported. */
  endsPosition: integer("ends_position").notNull(),
  /** Hold id and wallet id of the last older receipt that was searched; null when none is left. */
  searchedTo: text("searched_to"),
});

/**
 * The last transfer of a wallet that was exported, or in SQLite of all wallets under the id "": rows are
 * numbered in the order of their commits there. No row is the start of the journal.
 */
export const exportPositions = sqliteTable(
  "export_positions",
  {
    export: text("export").notNull(),
    walletId: text("wallet_id").notNull(),
    position: integer("position").notNull(),
  },
  (table) => [primaryKey({ columns: [table.export, table.walletId] })],
);

/**
 * Receipts that ended without a transfer, while there are exports. A batch adds rows without a position; the
 * next export numbers them, so that a late commit gets a later number.
 */
export const exportEnds = sqliteTable(
  "export_ends",
  {
    walletId: text("wallet_id").notNull(),
    holdId: text("hold_id").notNull(),
    position: integer("position"),
  },
  (table) => [index("export_ends_position").on(table.position)],
);

/** One row: the last number given to a row of {@link exportEnds}. */
export const exportNumbers = sqliteTable("export_numbers", {
  id: integer("id").primaryKey(),
  last: integer("last").notNull(),
});
