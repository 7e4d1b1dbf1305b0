import type { GatewayError } from "../errors.ts";
import { describeFault, type Log } from "../telemetry/log.ts";

/** Says in the log what an `internal_error` hides from the client; says nothing of any other error. */
export function logInternal(log: Log, requestId: string, error: GatewayError): void {
  if (error.row.code !== "internal_error") return;
  log.error({ request: requestId, ...describeFault(error.cause ?? error) }, "internal error");
}
