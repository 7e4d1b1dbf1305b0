import { SQL } from "bun";
import { StoreError, type StoreFault } from "../engine/store.ts";

/**
 * Another session has the rows: a deadlock, a serialization failure, a lock timeout or a statement timeout.
 */
const BUSY = new Set(["40001", "40P01", "55P03", "57014"]);

/** Invalid data, a violated constraint or limit (22, 23, 54), or an exception raised by a trigger. */
const REJECTED = /^(22|23|54|P0001)/;

/**
 * The connection ended: no server (08), a shutdown or start (57P), or an idle transaction timeout (25P03).
 */
const LOST = /^(08|57P|25P03)/;

/** The connection stands, but the server lacks resources (53) or is read-only (25006). */
const UNUSABLE = /^(53|25006)/;

/** Two processes created one wallet at once. The wallet exists now, so the batch succeeds when repeated. */
const CREATED_TWICE = "wallets_pkey";

/**
 * Converts the error of a failed transaction. With `commit`, its commit was sent, and the transaction's number may
 * be known: a lost connection then means `unknown`. Keeps only the code of a PostgreSQL error, whose message may have values of rows.
 * @see https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function storeErrorOf(error: unknown, commit?: { readonly transaction?: string }): StoreError {
  if (error instanceof StoreError) return error;
  const fault = faultOf(error);
  const reason =
    error instanceof SQL.PostgresError
      ? Object.assign(new Error(describe(error)), { code: error.errno ?? error.code })
      : error;
  if (commit && isConnectionLost(error)) return new StoreError("unknown", reason, commit.transaction);
  return new StoreError(fault, reason);
}

function faultOf(error: unknown): StoreFault {
  if (!(error instanceof SQL.PostgresError)) return "rejected";
  const { errno = "", constraint } = error;
  if (BUSY.has(errno) || constraint === CREATED_TWICE) return "busy";
  if (isConnectionLost(error) || UNUSABLE.test(errno)) return "away";
  return REJECTED.test(errno) ? "rejected" : "unavailable";
}

/** An error without SQLSTATE is the driver's own: the connection is lost or was never opened. */
function isConnectionLost(error: unknown): boolean {
  return error instanceof SQL.PostgresError && (error.errno === undefined || LOST.test(error.errno));
}

function describe({ code, errno, constraint }: SQL.PostgresError): string {
  if (errno === undefined) return `PostgreSQL: ${code}`;
  return `PostgreSQL: SQLSTATE ${errno}${constraint ? ` of ${constraint}` : ""}`;
}
