import type { GatewayError } from "../errors.ts";
import { LimiterError } from "../limiter/limiter.ts";
import { describeFault, type Log } from "../telemetry/log.ts";

/**
 * Says in the log what an `internal_error` hides from the client; nothing of any other error, of a limiter that
 * is away, which has said so itself when it went, or of a shutdown, which is no fault.
 */
export function logInternalError(log: Log, requestId: string, error: GatewayError): void {
  if (error.row.code !== "internal_error" || error.kind.startsWith("shutting_down")) return;
  if (error.cause instanceof LimiterError) return;
  log.error({ request: requestId, ...describeFault(error.cause ?? error) }, "internal error");
}
