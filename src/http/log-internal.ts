import type { GatewayError } from "../errors.ts";
import { LimiterError } from "../limiter/limiter.ts";
import { describeFault, type Log } from "../telemetry/log.ts";

/**
 * Says in the log what an `internal_error` hides from the client; nothing of any other error, nor of a limiter
 * that is away, which has said so itself when it went.
 */
export function logInternal(log: Log, requestId: string, error: GatewayError): void {
  if (error.row.code !== "internal_error" || error.cause instanceof LimiterError) return;
  log.error({ request: requestId, ...describeFault(error.cause ?? error) }, "internal error");
}
