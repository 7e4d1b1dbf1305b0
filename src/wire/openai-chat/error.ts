import type { GatewayError } from "../../errors.ts";
import { printSse } from "../sse.ts";

/** The error body of the OpenAI surfaces. The request id travels in headers only. */
export function printError(error: GatewayError): string {
  const [, type] = error.row.chat;
  return JSON.stringify({ error: { message: error.publicMessage, type, code: error.row.code } });
}

/** The same in an open stream; clients throw on it wherever it comes. */
export function printErrorFrame(error: GatewayError): string {
  return printSse({ data: printError(error) });
}

export function statusOf(error: GatewayError): number {
  return error.row.chat[0];
}
