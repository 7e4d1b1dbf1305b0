import type { GatewayError } from "../../errors.ts";
import { printSse } from "../sse.ts";

/** The error body of the messages surface; SDKs read our code as `errorCode`. */
export function printError(error: GatewayError, requestId: string): string {
  const [, type] = error.row.messages;
  return JSON.stringify({
    type: "error",
    error: { type, message: error.publicMessage, details: { error_code: error.row.code } },
    request_id: requestId,
  });
}

/** The same in an open stream. */
export function printErrorFrame(error: GatewayError, requestId: string): string {
  return printSse({ event: "error", data: printError(error, requestId) });
}

export function statusOf(error: GatewayError): number {
  return error.row.messages[0];
}
