// What keys record of their requests.
import type { Columns } from "../sqlite/columns.ts";

/** The bodies of requests, encrypted with a key that the database does not have. */
export const recordings = (t: Columns) =>
  t.createTable(
    "recordings",
    {
      accountId: t.text("account_id").notNull(),
      requestId: t.text("request_id").notNull(),
      keyId: t.text("key_id").notNull(),
      /** Which key of the operator encrypted it. */
      masterId: t.text("master_id").notNull(),
      createdAtMs: t.whole("created_at_ms").notNull(),
      expiresAtMs: t.whole("expires_at_ms").notNull(),
      /** Nonce, tag and ciphertext in base64. */
      sealed: t.text("sealed").notNull(),
      /** What it counts for against the bound of its account. */
      bytes: t.whole("bytes").notNull(),
    },
    (table) => [
      t.primaryKey({ columns: [table.accountId, table.requestId] }),
      t.index("recordings_key").on(table.accountId, table.keyId),
      t.index("recordings_end").on(table.expiresAtMs),
    ],
  );

/** The bytes of each account's recordings. Who adds or deletes one locks this row first. */
export const recordingBytes = (t: Columns) =>
  t.createTable("recording_bytes", {
    accountId: t.text("account_id").primaryKey(),
    bytes: t.whole("bytes").notNull(),
  });
