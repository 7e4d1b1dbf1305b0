import type { StorageConfig } from "../config/environment.ts";
import type { LedgerConfig, RemoteLedger } from "../config/ledger.ts";
import { connectDatabase, type Database } from "../db/database.ts";
import { createMasterKeys } from "../db/sealing.ts";
import type { BatchOptions } from "../ledger/engine/batcher.ts";
import type { LocalLedger } from "../ledger/engine/local.ts";
import type { BatchObserver } from "../ledger/engine/store.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { withForgottenNames } from "../ledger/lost-holds.ts";

/** The database with accounts and keys, and the ledger with their money. */
export interface Storage {
  readonly database: Database;
  readonly ledger: Ledger;
  /** The ledger when it is in this database; `undefined` when another process runs it. */
  readonly local: LocalLedger | undefined;
  /** Resolves when every accepted command has its result and the connections are closed. */
  close(): Promise<void>;
}

export interface StorageOptions extends StorageConfig {
  /** Maximum number of wallets in one ledger transaction. Default: unbounded. */
  readonly walletsPerBatch?: number | undefined;
  /** Told of the transactions of a local ledger. */
  readonly observer?: BatchObserver | undefined;
}

/** Opens the database, and the local or remote ledger. Rejects when the database cannot be used. */
export async function openStorage({
  database: location,
  ledger,
  walletsPerBatch,
  observer,
  sealing,
}: StorageOptions): Promise<Storage> {
  const database = await connectDatabase(
    location,
    createMasterKeys(() => sealing?.keys),
  );
  try {
    const opened = ledger.remote
      ? { ledger: await openRemoteLedger(ledger.remote, ledger), local: undefined }
      : await openLocal(database, { walletsMax: walletsPerBatch, observer });
    const close = () => opened.ledger.close().finally(() => database.close());
    return { database, ...opened, close };
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function openLocal(database: Database, options: BatchOptions) {
  const local = withForgottenNames(database, await createLocal(database, options));
  return { ledger: local, local };
}

/** Loads only the code of the dialect in use. */
async function createLocal(database: Database, options: BatchOptions): Promise<LocalLedger> {
  if (database.dialect === "sqlite") {
    const { createSqliteLedger } = await import("../ledger/sqlite/ledger.ts");
    return createSqliteLedger({ database: database.sqlite, ...options });
  }
  const { createPostgresLedger } = await import("../ledger/postgres/ledger.ts");
  return createPostgresLedger({ database: database.postgres, ...options });
}

/** Creates a client of the ledger in another process, which need not run yet. */
export async function openRemoteLedger(
  { address, isEncrypted }: RemoteLedger,
  ledger: Pick<LedgerConfig, "tokens" | "tls">,
): Promise<Ledger> {
  const { connectLedger } = await import("../ledger-grpc/client/client.ts");
  return connectLedger({ address, tokens: () => ledger.tokens, tls: isEncrypted ? ledger.tls : undefined });
}
