import type { GatewayError } from "../../errors.ts";
import type { WireFormat } from "../format.ts";
import { anthropicLimitHeaders } from "../limit-headers.ts";
import { printSse } from "../sse.ts";
import { findPromptTooLong, type PromptTooLong, type TooLongPhrases } from "../upstream-fault.ts";
import { betas } from "./betas.ts";
import { countFormat } from "./count-tokens.ts";
import { findUntranslatable, printRequest } from "./egress/print-request.ts";
import { readEvents, readReply } from "./egress/read-answer.ts";
import { printEvents, printReply } from "./ingress/print-answer.ts";
import { readStream, readWhole } from "./passthrough/stream.ts";
import { dropForeignReasoning, parseRequest, printUpstreamRequest } from "./request.ts";

/**
 * Anthropic's messages format.
 *
 * @see https://docs.anthropic.com/en/api/messages
 */
export const anthropicMessages: WireFormat = {
  surface: "messages",
  path: "/v1/messages",
  upstreamPath: () => "/v1/messages",
  // This version accepts a temperature. The client's own `anthropic-version` header takes precedence.
  headers: { "anthropic-version": "2023-06-01" },
  forwardedHeaders: ["anthropic-version", "anthropic-beta"],
  optIns: betas,
  hasCacheMarks: true,
  count: countFormat,
  conversation: { member: "messages", keeps: (list) => dropForeignReasoning(list) === list },
  parseRequest,
  printUpstreamRequest,
  readStream,
  readWhole,
  ingress: { printStream: printEvents, printWhole: printReply },
  egress: {
    nameCharsMax: 128,
    idCharsMax: 64,
    findUntranslatable,
    printRequest,
    readStream: readEvents,
    readWhole: readReply,
  },
  readPromptTooLong,
  limitHeaders: anthropicLimitHeaders,
  statusOf,
  printError,
  printErrorFrame,
  sendsErrorInStream: () => false,
  keepAlive: printSse({ event: "ping", data: '{"type": "ping"}' }),
};

/** Prefix of the beta with which SDKs ask for threads; a date follows it. */
const THREADS_BETA = "message-threads-";
/**
 * The error code on which SDKs send the whole conversation instead of continuing a thread.
 *
 * @see https://github.com/anthropics/anthropic-sdk-typescript `src/lib/internal/threads/ThreadState.ts`
 */
const THREAD_NOT_FOUND = "thread_not_found";

/**
 * Prints the error body of the messages format. SDKs expose our code as `errorCode`. `headerBetas`
 * is the client's `anthropic-beta` header: with the threads beta, a continued thread is answered with `thread_not_found`.
 */
function printError(error: GatewayError, requestId: string, headerBetas = ""): string {
  const [, type] = error.row.messages;
  const isLostThread = error.kind === "thread_not_stored" && headerBetas.includes(THREADS_BETA);
  const details = { error_code: isLostThread ? THREAD_NOT_FOUND : error.row.code };
  return JSON.stringify({
    type: "error",
    error: { type, message: error.publicMessage, details },
    request_id: requestId,
  });
}

/** Prints an error as an event of an open stream. */
function printErrorFrame(error: GatewayError, requestId: string): string {
  return printSse({ event: "error", data: printError(error, requestId) });
}

function statusOf(error: GatewayError): number {
  return error.row.messages[0];
}

/** The last two are Bedrock's. */
const TOO_LONG: TooLongPhrases = {
  phrase: /prompt is too long|exceed context limit|input is too long/i,
  tokens: [/prompt is too long\D{0,40}(\d[\d,]{0,11}) tokens/i, /exceed context limit: (\d[\d,]{0,11}) \+/i],
};

/** Returns whether an upstream error rejects the prompt as too long. */
function readPromptTooLong(text: string): PromptTooLong | undefined {
  return findPromptTooLong(text, TOO_LONG);
}
