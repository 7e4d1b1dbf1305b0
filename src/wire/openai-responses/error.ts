import type { GatewayError } from "../../errors.ts";
import { printFailure } from "./response.ts";
import { printResponseEvent } from "./response-event.ts";

/** What is refused so, in a stream, is not tried again by agents that would repeat it six times over. */
const REFUSED_IN_STREAM = 402;
/** Comes after the number of every event that went out before: how many those were is not known here. */
const LAST_NUMBER = 2_147_483_647;

/** The error body of the responses surface: as on chat, but for the code that makes agents compact a conversation. */
export function printError(error: GatewayError): string {
  const { chat, code } = error.row;
  const [, type] = chat;
  const knownCode = error.kind === "prompt_too_long" ? error.row.responses[1] : code;
  return JSON.stringify({ error: { message: error.publicMessage, type, code: knownCode } });
}

/** A `response.failed` with the code that agents act on; they read no other frame. Begins a stream that has nothing in it. */
export function printErrorFrame(error: GatewayError, requestId: string): string {
  const failure = { code: error.row.responses[1], message: error.publicMessage };
  const failed = (sequenceNumber: number) =>
    printResponseEvent("response.failed", { sequenceNumber, response: printFailure(requestId, failure) });
  if (!refusesInStream(error)) return failed(LAST_NUMBER);
  const response = printFailure(requestId, undefined);
  return printResponseEvent("response.created", { sequenceNumber: 0, response }) + failed(1);
}

export function statusOf(error: GatewayError): number {
  return error.row.responses[0];
}

export function refusesInStream(error: GatewayError): boolean {
  return statusOf(error) === REFUSED_IN_STREAM;
}
