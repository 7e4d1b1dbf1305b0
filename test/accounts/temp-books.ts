import { join } from "node:path";
import { createAccount } from "../../src/accounts/create.ts";
import { openDatabase } from "../../src/db/sqlite/database.ts";
import { createSqliteLedger } from "../../src/ledger/sqlite.ts";
import { tempFolder } from "../support/temp-folder.ts";

/** A database of its own with a ledger; what is time-dependent follows `clock.nowMs`. */
export function openTempBooks() {
  const path = join(tempFolder(), "data", "tollgate.db");
  const clock = { nowMs: Date.UTC(2026, 5, 1) };
  const now = () => clock.nowMs;
  const database = openDatabase(path);
  const ledger = createSqliteLedger({ database, now });
  const books = { database, ledger, now };
  return {
    ...books,
    clock,
    path,
    newAccount: (name: string = crypto.randomUUID()) => createAccount(books, { name }),
    async close() {
      await ledger.close();
      database.close();
    },
  };
}

export type TempBooks = ReturnType<typeof openTempBooks>;
