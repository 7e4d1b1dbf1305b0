import { type Books, openBooks } from "../../../src/app/storage.ts";
import type { DatabaseLocation } from "../../../src/db/location.ts";

const NO_TLS = { cert: undefined, key: undefined, ca: undefined };

/** Opens the books in a database as a gateway does that keeps its ledger to itself. */
export function openBenchBooks(database: DatabaseLocation): Promise<Books> {
  const ledger = { listen: undefined, remote: undefined, token: undefined, tls: NO_TLS };
  return openBooks({ database, dataFolder: "", ledger });
}
