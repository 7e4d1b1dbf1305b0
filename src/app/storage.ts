import type { BooksConfig } from "../config/books.ts";
import type { LedgerConfig, RemoteLedger } from "../config/ledger.ts";
import { connectDatabase, type Database } from "../db/database.ts";
import type { BatchOptions } from "../ledger/engine/batch.ts";
import type { SweptLedger } from "../ledger/engine/local.ts";
import type { Ledger } from "../ledger/ledger.ts";

/** Accounts and keys, and the ledger with their money. */
export interface Books {
  readonly database: Database;
  readonly ledger: Ledger;
  /** The same ledger, when it is kept in this database and not by another process. */
  readonly local: SweptLedger | undefined;
  /** Resolves when every command that was accepted is answered and the connections are closed. */
  close(): Promise<void>;
}

export interface BooksOptions extends BooksConfig {
  /** Wallets of one transaction at most. */
  readonly walletsPerBatch?: number | undefined;
}

/** Opens the database, and the ledger in it or elsewhere. Rejects when the database cannot be used. */
export async function openBooks({
  database: location,
  ledger,
  walletsPerBatch,
}: BooksOptions): Promise<Books> {
  const database = await connectDatabase(location);
  try {
    const opened = ledger.remote
      ? { ledger: await openRemoteLedger(ledger.remote, ledger), local: undefined }
      : await openLocal(database, walletsPerBatch);
    const close = () => opened.ledger.close().finally(() => database.close());
    return { database, ...opened, close };
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function openLocal(database: Database, walletsMax: number | undefined) {
  const options: BatchOptions = walletsMax === undefined ? {} : { walletsMax };
  const local = await createLocal(database, options);
  return { ledger: local, local };
}

/** Only the code of the dialect that is used is loaded. */
async function createLocal(database: Database, options: BatchOptions): Promise<SweptLedger> {
  if (database.dialect === "sqlite") {
    const { createSqliteLedger } = await import("../ledger/sqlite/ledger.ts");
    return createSqliteLedger({ database: database.sqlite, ...options });
  }
  const { createPostgresLedger } = await import("../ledger/postgres/ledger.ts");
  return createPostgresLedger({ database: database.postgres, ...options });
}

/** Connects to the ledger of another process, whether it is there yet or not. */
export async function openRemoteLedger(
  { address, isEncrypted }: RemoteLedger,
  { token = "", tls }: Pick<LedgerConfig, "token" | "tls">,
): Promise<Ledger> {
  const { connectLedger } = await import("../ledger-grpc/client/client.ts");
  return connectLedger({ address, token, tls: isEncrypted ? tls : undefined });
}
