import type { FinishReason, UsageEvent } from "../../domain/chat-event.ts";
import { inputTokensOf, isCount, isCounted, totalTokensOf, type Usage } from "../../domain/usage.ts";
import type { Cause, GatewayError } from "../../errors.ts";
import type { ReplyHead, SentStream } from "../format.ts";
import { isJsonObject, type JsonObject, parseJsonObject } from "../json/read.ts";
import type { EchoedFields } from "../model-request.ts";
import { readDetails, splitUsage } from "../openai-usage.ts";
import { createSseDecoder, printSse } from "../sse.ts";
import {
  findPromptTooLong,
  type PromptTooLong,
  type TooLongPhrases,
  UpstreamFault,
} from "../upstream-fault.ts";
import { NOTHING_ECHOED } from "./ingress/echoed-fields.ts";

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

/** Errors whose own codes clients act on: they compact the conversation, send it whole, or connect again. */
const KNOWN_CODES: ReadonlySet<Cause> = new Set<Cause>([
  "prompt_too_long",
  "unknown_previous_response",
  "wrong_stream_id",
  "too_many_streams",
  "socket_too_old",
]);

/**
 * Prints the error body of the responses format. Type and code are those of chat completions, except for the codes
 * that clients act on.
 */
export function printError(error: GatewayError): string {
  const { chat, code } = error.row;
  const [, type] = chat;
  const knownCode = KNOWN_CODES.has(error.kind) ? error.row.responses[1] : code;
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
  return printEnd("response.failed", { requestId, sent, ended: { status: "failed", error: failure } });
}

/**
 * Prints the end of a response that its client cancelled on a WebSocket, as {@link printErrorFrame} does. The format
 * has no event for it: an incomplete response is an end that every client reads.
 */
export function printCancelledFrame(requestId: string, sent = NOTHING_SENT): string {
  const ended = { status: "incomplete", incomplete_details: { reason: "cancelled" } };
  return printEnd("response.incomplete", { requestId, sent, ended });
}

interface UnfinishedEnd {
  readonly requestId: string;
  readonly sent: SentStream;
  /** The members of the response that differ from one that begins. */
  readonly ended: object;
}

function printEnd(type: `response.${string}`, { requestId, sent, ended }: UnfinishedEnd): string {
  const { model, last } = sent;
  const response = printUnfinished({ requestId, model }, ended);
  if (last !== "") return printResponseEvent(type, { sequenceNumber: nextNumber(sent), response });
  const begun = printUnfinished({ requestId, model });
  const created = printResponseEvent("response.created", { sequenceNumber: 0, response: begun });
  return created + printResponseEvent(type, { sequenceNumber: 1, response });
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

/** The state of a response when it is printed. */
export interface Progress {
  readonly status: "in_progress" | "completed" | "incomplete";
  readonly output: readonly object[];
  /** Why the response is incomplete. */
  readonly reason: string | undefined;
  readonly usage: UsageEvent | undefined;
}

/** The state of a response at its start. */
export const BEGUN: Progress = { status: "in_progress", output: [], reason: undefined, usage: undefined };

/**
 * Prints a response object with every member of the format, empty ones included, and the fields that it
 * echoes.
 */
export function printResponse(
  head: ReplyHead,
  { members: echoed }: EchoedFields,
  progress: Progress,
): string {
  const { output, reason, usage } = progress;
  const own = {
    ...identityOf(`resp_${head.id}`, head.createdAtS),
    status: progress.status,
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    model: head.request.model,
    output,
    usage: printUsage(usage),
  };
  return join(own, echoed);
}

/**
 * Prints the response object of a stream that ended without a finish or, without `ended`, of one that begins. Only
 * the model of the request is known here, so that every echoed field has its default.
 */
function printUnfinished(
  { requestId, model }: { readonly requestId: string; readonly model: string },
  ended: object = {},
): string {
  const own = {
    ...identityOf(`resp_${requestId.replaceAll("-", "")}`, timeOf(requestId)),
    status: "in_progress",
    error: null,
    incomplete_details: null,
    model,
    output: [],
    usage: null,
    ...ended,
  };
  return join(own, NOTHING_ECHOED.members);
}

/** Prints a stream event that carries a whole response; `response` is JSON. */
export function printResponseEvent(
  type: `response.${string}`,
  { sequenceNumber, response }: { readonly sequenceNumber: number; readonly response: string },
): string {
  const data = `{"type":"${type}","sequence_number":${sequenceNumber},"response":${response}}`;
  return printSse({ event: type, data });
}

function identityOf(id: string, createdAtS: number) {
  // `completed_at` stays null because the formats know no clock.
  return { id, object: "response", created_at: createdAtS, completed_at: null };
}

function join(own: object, echoed: string): string {
  return `${JSON.stringify(own).slice(0, -1)},${echoed}}`;
}

/** Returns Unix seconds. A request id begins with its time in milliseconds. */
function timeOf(requestId: string): number {
  const ms = Number.parseInt(requestId.replaceAll("-", "").slice(0, 12), 16);
  return Number.isNaN(ms) ? 0 : Math.floor(ms / 1000);
}

/**
 * Reads the usage of a response as {@link splitUsage} does. Returns `undefined` when it is not an object.
 */
export function readUsage(usage: unknown): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const { reasoning_tokens: reasoning } = readDetails(usage.output_tokens_details);
  return splitUsage(usage, {
    input: usage.input_tokens,
    output: usage.output_tokens,
    inputDetails: usage.input_tokens_details,
    outputDetails: usage.output_tokens_details,
    reasoning: isCount(reasoning) ? reasoning : undefined,
  });
}

/** Returns usage for a client, or null when the upstream reported none or implausible counts. */
function printUsage(reported: UsageEvent | undefined): object | null {
  if (!reported || !isCounted(reported.usage)) return null;
  const { usage, reasoningTokens } = reported;
  return {
    input_tokens: inputTokensOf(usage),
    input_tokens_details: {
      cached_tokens: usage.cachedInputTokens,
      cache_write_tokens: usage.cacheWriteTokens + usage.cacheWrite1hTokens,
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens ?? 0 },
    total_tokens: totalTokensOf(usage),
  };
}

/** Values of `status` in a finished response. Some hosts leave it out. */
const FINISHED: readonly unknown[] = ["completed", "incomplete", null, undefined];

/** Throws {@link UpstreamFault} for a response that failed, was cancelled or has not finished. */
export function requireFinished(response: JsonObject): void {
  if (response.error || !FINISHED.includes(response.status))
    throw new UpstreamFault("The response is not finished");
}

/** Whether a content filter cut the response off. Such a response counts as readable even without text. */
export function isFiltered({ incomplete_details: details }: JsonObject): boolean {
  return isJsonObject(details) && details.reason === "content_filter";
}

/** How a response ended. */
interface FinishStatus {
  readonly status: "completed" | "incomplete";
  /** Why the response is incomplete. */
  readonly reason: string | undefined;
}

/** Returns the `status` and the `incomplete_details.reason` for a finish reason. */
export function finishStatusOf(reason: FinishReason): FinishStatus {
  if (reason === "length") return { status: "incomplete", reason: "max_output_tokens" };
  if (reason === "content_filter") return { status: "incomplete", reason };
  return { status: "completed", reason: undefined };
}
