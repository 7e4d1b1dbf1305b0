import type { GatewayError } from "../../errors.ts";
import { printSse } from "../sse.ts";

/** Google's names of statuses. */
const STATUSES: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  402: "FAILED_PRECONDITION",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  409: "ABORTED",
  413: "INVALID_ARGUMENT",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  501: "UNIMPLEMENTED",
  502: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};
const DOMAIN = "tollgate";

/** The statuses of the messages surface: Google too answers 400 to every invalid request. */
export function statusOf(error: GatewayError): number {
  return error.row.messages[0];
}

/**
 * Prints an error in Google's envelope. The code of the contract is the reason in `details`; SDKs wait as long as the
 * retry information says.
 *
 * @see https://google.aip.dev/193
 */
export function printError(error: GatewayError, requestId: string): string {
  const code = statusOf(error);
  const info = {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    reason: error.row.code,
    domain: DOMAIN,
    metadata: { requestId },
  };
  const retry = {
    "@type": "type.googleapis.com/google.rpc.RetryInfo",
    retryDelay: `${error.retryAfterS}s`,
  };
  const details = error.retryAfterS === undefined ? [info] : [info, retry];
  const status = STATUSES[code] ?? "UNKNOWN";
  return JSON.stringify({ error: { code, message: error.publicMessage, status, details } });
}

/**
 * Prints an error inside of an open stream, twice: as an event, and as text that is no event. Older SDKs of Google's
 * ignore an event without candidates, and take only the text for a broken stream.
 */
export function printErrorFrame(error: GatewayError, requestId: string): string {
  const text = printError(error, requestId);
  return printSse({ data: text }) + text;
}
