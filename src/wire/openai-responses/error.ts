import type { GatewayError } from "../../errors.ts";
import { parseJsonObject } from "../json/read.ts";
import type { SentStream } from "../protocol.ts";
import { createSseDecoder } from "../sse.ts";
import { printFailure } from "./response.ts";
import { printResponseEvent } from "./response-event.ts";

/** What is refused so, in a stream, is not tried again by agents that would repeat it six times over. */
const REFUSED_IN_STREAM = 402;
const NOTHING_SENT: SentStream = { model: "", last: "" };

/** The error body of the responses surface: as on chat, but for the code that makes agents compact a conversation. */
export function printError(error: GatewayError): string {
  const { chat, code } = error.row;
  const [, type] = chat;
  const knownCode = error.kind === "prompt_too_long" ? error.row.responses[1] : code;
  return JSON.stringify({ error: { message: error.publicMessage, type, code: knownCode } });
}

/**
 * A `response.failed` with the code that agents act on; they read no other frame. Its number follows that of the last
 * event, and a stream that has nothing in it begins with a response first, as clients insist.
 */
export function printErrorFrame(error: GatewayError, requestId: string, sent = NOTHING_SENT): string {
  const failure = { code: error.row.responses[1], message: error.publicMessage };
  const { model } = sent;
  const print = (type: `response.${string}`, sequenceNumber: number, said?: typeof failure) =>
    printResponseEvent(type, { sequenceNumber, response: printFailure({ requestId, model }, said) });
  if (sent.last !== "") return print("response.failed", nextNumber(sent), failure);
  return print("response.created", 0) + print("response.failed", 1, failure);
}

/** The number of the next event; 0 where those that were sent have none. */
function nextNumber({ last }: SentStream): number {
  const events = createSseDecoder().push(Buffer.from(last));
  const numbers = events.map(({ data }) => parseJsonObject(data)?.sequence_number);
  const latest = numbers.findLast((number) => Number.isSafeInteger(number));
  return typeof latest === "number" ? latest + 1 : 0;
}

export function statusOf(error: GatewayError): number {
  return error.row.responses[0];
}

export function sendsErrorInStream(error: GatewayError): boolean {
  return statusOf(error) === REFUSED_IN_STREAM;
}
