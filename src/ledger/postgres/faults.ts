import { SQL } from "bun";
import { StoreError, type StoreFault } from "../engine/store.ts";

/** Somebody else had the rows: a deadlock, a serialization failure, or a lock or statement that took too long. */
const BUSY = new Set(["40001", "40P01", "55P03", "57014"]);

/** Data that no database keeps (22, 23, 54), and what a trigger refuses. */
const REJECTED = /^(22|23|54|P0001)/;

/** The connection ends: the server is not there (08), shuts down or starts up (57P), or waited too long (25P03). */
const LOST = /^(08|57P|25P03)/;

/** It stays, but the server is full (53) or may only be read now (25006). */
const HINDERED = /^(53|25006)/;

/** Two processes created one wallet at once: it is there now, and the same batch finds it. */
const CREATED_TWICE = "wallets_pkey";

/**
 * Says why a transaction did not happen. Once COMMIT was sent, a connection that ends leaves it `unknown`.
 * What PostgreSQL prints may hold values of rows: only its code goes on.
 */
export function storeErrorOf(error: unknown, transaction?: string): StoreError {
  if (error instanceof StoreError) return error;
  const fault = faultOf(error);
  const reason =
    error instanceof SQL.PostgresError
      ? Object.assign(new Error(describe(error)), { code: error.errno ?? error.code })
      : error;
  if (transaction !== undefined && isConnectionLost(error))
    return new StoreError("unknown", reason, transaction);
  return new StoreError(fault, reason);
}

function faultOf(error: unknown): StoreFault {
  if (!(error instanceof SQL.PostgresError)) return "rejected";
  const { errno = "", constraint } = error;
  if (BUSY.has(errno) || constraint === CREATED_TWICE) return "busy";
  if (isConnectionLost(error) || HINDERED.test(errno)) return "away";
  return REJECTED.test(errno) ? "rejected" : "unavailable";
}

/** Without a code of the server's the driver itself gave up: the connection is gone or never was. */
function isConnectionLost(error: unknown): boolean {
  return error instanceof SQL.PostgresError && (error.errno === undefined || LOST.test(error.errno));
}

function describe({ code, errno, constraint }: SQL.PostgresError): string {
  if (errno === undefined) return `PostgreSQL: ${code}`;
  return `PostgreSQL: SQLSTATE ${errno}${constraint ? ` of ${constraint}` : ""}`;
}
