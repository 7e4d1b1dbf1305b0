// Exports of usage: how far each one has come, and receipts that ended without a transfer.
import { index, pgTable, primaryKey, uuid } from "drizzle-orm/pg-core";
import { bytewise, whole } from "./columns.ts";

// Tables and columns have the names and meanings of ../sqlite/export-schema.ts.

export const usageExports = pgTable("exports", {
  name: bytewise("name").primaryKey(),
  version: whole("version").notNull(),
  createdAtMs: whole("created_at_ms").notNull(),
  endsPosition: whole("ends_position").notNull(),
  searchedTo: bytewise("searched_to"),
});

/** Positions are the numbers of transfers in their wallet. */
export const exportPositions = pgTable(
  "export_positions",
  {
    export: bytewise("export").notNull(),
    walletId: bytewise("wallet_id").notNull(),
    position: whole("position").notNull(),
  },
  (table) => [primaryKey({ columns: [table.export, table.walletId] })],
);

export const exportEnds = pgTable(
  "export_ends",
  {
    walletId: bytewise("wallet_id").notNull(),
    holdId: uuid("hold_id").notNull(),
    position: whole("position"),
  },
  (table) => [index("export_ends_position").on(table.position)],
);

export const exportNumbers = pgTable("export_numbers", {
  id: whole("id").primaryKey(),
  last: whole("last").notNull(),
});
