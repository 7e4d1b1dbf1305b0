import { dirname, resolve } from "node:path";
import type { DatabaseLocation } from "../db/location.ts";
import { readDatabase } from "./database.ts";
import { type LedgerConfig, readLedger } from "./ledger.ts";
import type { Environment } from "./placeholders.ts";
import type { Problems } from "./problems.ts";

/** Where accounts, keys and money are kept. */
export interface StorageConfig {
  readonly database: DatabaseLocation;
  /** Absolute: where the token of the ledger and the journals of settlements are. */
  readonly dataFolder: string;
  readonly ledger: LedgerConfig;
}

/** Reads what the environment says of the books. */
export function readStorage(environment: Environment, folder: string, problems: Problems): StorageConfig {
  const database = readDatabase(environment, folder, problems);
  const dataFolder = readDataFolder(environment, { folder, database }, problems);
  return { database, dataFolder, ledger: readLedger(environment, { folder, dataFolder }, problems) };
}

/** Beside the SQLite file, unless `TOLLGATE_DATA` says otherwise. */
function readDataFolder(
  environment: Environment,
  { folder, database }: { readonly folder: string; readonly database: DatabaseLocation },
  problems: Problems,
): string {
  const named = environment.TOLLGATE_DATA;
  if (named?.includes("\0")) problems.add(["TOLLGATE_DATA"], "is no path", "a folder");
  if (named) return resolve(folder, named);
  return database.dialect === "sqlite" ? dirname(database.path) : resolve(folder, "data");
}
