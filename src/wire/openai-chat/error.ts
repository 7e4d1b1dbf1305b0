import type { GatewayError } from "../../errors.ts";
import { printSse } from "../sse.ts";
import { findPromptTooLong, type PromptTooLong, type TooLongPhrases } from "../upstream-fault.ts";

/**
 * Prints an error body of the OpenAI surfaces. The request id is sent in a header only.
 *
 * @see https://platform.openai.com/docs/guides/error-codes
 */
export function printError(error: GatewayError): string {
  const [, type] = error.row.chat;
  return JSON.stringify({ error: { message: error.publicMessage, type, code: error.row.code } });
}

/** Prints an error as an event of an open stream; clients throw on it at any position. */
export function printErrorFrame(error: GatewayError): string {
  return printSse({ data: printError(error) });
}

export function statusOf(error: GatewayError): number {
  return error.row.chat[0];
}

const TOO_LONG: TooLongPhrases = {
  phrase: /context_length_exceeded|maximum context length|exceed the configured limit|prompt is too long/i,
  tokens: [
    /(\d[\d,]{0,11}) in the messages/i,
    /resulted in (\d[\d,]{0,11}) tokens/i,
    /your request has (\d[\d,]{0,11}) input tokens/i,
    /you requested (\d[\d,]{0,11}) tokens/i,
    /prompt is too long: (\d[\d,]{0,11}) tokens/i,
  ],
};

/** Returns whether an upstream's error rejects the prompt as too long. */
export function readPromptTooLong(text: string): PromptTooLong | undefined {
  return findPromptTooLong(text, TOO_LONG);
}
