import type { GatewayError } from "../../errors.ts";
import { printSse } from "../sse.ts";
import { findPromptTooLong, type PromptTooLong, type TooLongPhrases } from "../upstream-fault.ts";

/** Prefix of the beta with which SDKs ask for threads; a date follows it. */
const THREADS_BETA = "message-threads-";
/**
 * The error code on which SDKs send the whole conversation instead of continuing a thread.
 *
 * @see https://github.com/anthropics/anthropic-sdk-typescript `src/lib/internal/threads/ThreadState.ts`
 */
const THREAD_NOT_FOUND = "thread_not_found";

/**
 * Prints the error body of the messages format. SDKs expose our code as `errorCode`. `betas` is the client's
 * `anthropic-beta` header: with the threads beta, a continued thread is answered with `thread_not_found`.
 */
export function printError(error: GatewayError, requestId: string, betas = ""): string {
  const [, type] = error.row.messages;
  const isLostThread = error.kind === "thread_not_stored" && betas.includes(THREADS_BETA);
  const details = { error_code: isLostThread ? THREAD_NOT_FOUND : error.row.code };
  return JSON.stringify({
    type: "error",
    error: { type, message: error.publicMessage, details },
    request_id: requestId,
  });
}

/** Prints an error as an event of an open stream. */
export function printErrorFrame(error: GatewayError, requestId: string): string {
  return printSse({ event: "error", data: printError(error, requestId) });
}

export function statusOf(error: GatewayError): number {
  return error.row.messages[0];
}

/** The last two are Bedrock's. */
const TOO_LONG: TooLongPhrases = {
  phrase: /prompt is too long|exceed context limit|input is too long/i,
  tokens: [/prompt is too long\D{0,40}(\d[\d,]{0,11}) tokens/i, /exceed context limit: (\d[\d,]{0,11}) \+/i],
};

/** Returns whether an upstream error rejects the prompt as too long. */
export function readPromptTooLong(text: string): PromptTooLong | undefined {
  return findPromptTooLong(text, TOO_LONG);
}
