import type { GatewayError } from "../../errors.ts";
import { parseJsonObject } from "../json/read.ts";
import type { SentStream } from "../protocol.ts";
import { createSseDecoder } from "../sse.ts";
import { findPromptTooLong, type PromptTooLong, type TooLongPhrases } from "../upstream-fault.ts";
import { printFailure, printResponseEvent } from "./response.ts";

/** Status of errors that are sent inside a stream, because agents retry a plain 402 answer six times. */
const SENT_IN_STREAM = 402;
const NOTHING_SENT: SentStream = { model: "", last: "" };

const TOO_LONG: TooLongPhrases = {
  phrase: /context_length_exceeded|exceeds the context window|maximum context length|prompt is too long/i,
  tokens: [
    /resulted in (\d[\d,]{0,11}) tokens/i,
    /your request has (\d[\d,]{0,11}) input tokens/i,
    /you requested (\d[\d,]{0,11}) tokens/i,
    /prompt is too long: (\d[\d,]{0,11}) tokens/i,
  ],
};

/**
 * Prints the error body of the responses format. Type and code are those of chat completions. The exception
 * is the code of `prompt_too_long`, on which agents compact the conversation.
 */
export function printError(error: GatewayError): string {
  const { chat, code } = error.row;
  const [, type] = chat;
  const knownCode = error.kind === "prompt_too_long" ? error.row.responses[1] : code;
  return JSON.stringify({ error: { message: error.publicMessage, type, code: knownCode } });
}

/**
 * Prints an error as a `response.failed` event, the only failure event that agents read. Its sequence number
 * follows that of the last event sent. In an empty stream a `response.created` event precedes it, which
 * clients require.
 *
 * @see https://platform.openai.com/docs/api-reference/responses
 */
export function printErrorFrame(error: GatewayError, requestId: string, sent = NOTHING_SENT): string {
  const failure = { code: error.row.responses[1], message: error.publicMessage };
  const { model } = sent;
  const print = (type: `response.${string}`, sequenceNumber: number, reported?: typeof failure) =>
    printResponseEvent(type, { sequenceNumber, response: printFailure({ requestId, model }, reported) });
  if (sent.last !== "") return print("response.failed", nextNumber(sent), failure);
  return print("response.created", 0) + print("response.failed", 1, failure);
}

/** Returns the sequence number of the next event, 0 when the events sent have none. */
function nextNumber({ last }: SentStream): number {
  const events = createSseDecoder().push(Buffer.from(last));
  const numbers = events.map(({ data }) => parseJsonObject(data)?.sequence_number);
  const latest = numbers.findLast((number) => Number.isSafeInteger(number));
  return typeof latest === "number" ? latest + 1 : 0;
}

export function statusOf(error: GatewayError): number {
  return error.row.responses[0];
}

/** Whether a client that asked for a stream receives the error inside one. */
export function sendsErrorInStream(error: GatewayError): boolean {
  return statusOf(error) === SENT_IN_STREAM;
}

/** Returns whether an upstream error, or a failure event, rejects the prompt as too long. */
export function readPromptTooLong(text: string): PromptTooLong | undefined {
  return findPromptTooLong(text, TOO_LONG);
}
