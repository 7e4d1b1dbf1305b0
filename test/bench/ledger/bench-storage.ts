import { openStorage, type Storage } from "../../../src/app/storage.ts";
import type { DatabaseLocation } from "../../../src/db/location.ts";

const NO_TLS = { cert: undefined, key: undefined, ca: undefined };

/** Opens a ledger as a gateway with a local ledger does. */
export function openBenchStorage(database: DatabaseLocation): Promise<Storage> {
  const ledger = { listen: undefined, remote: undefined, tokens: [], tls: NO_TLS };
  return openStorage({ database, dataFolder: "", ledger });
}
