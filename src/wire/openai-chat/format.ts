import type { GatewayError } from "../../errors.ts";
import type { WireFormat } from "../format.ts";
import { editElements, editMembers, type ValueEdit } from "../json/edit.ts";
import { ANSWER_MAX, isJsonObject, type JsonObject, parseJsonObject, readArray } from "../json/read.ts";
import { openaiLimitHeaders } from "../limit-headers.ts";
import type { RequestHead } from "../model-request.ts";
import { readUsage } from "../openai-usage.ts";
import type { Content, ReplyPart } from "../reply-part.ts";
import { printSse } from "../sse.ts";
import { readServed, withServed } from "../tiers.ts";
import {
  findPromptTooLong,
  type PromptTooLong,
  type TooLongPhrases,
  UpstreamFault,
} from "../upstream-fault.ts";
import { type FinishReason, faultOf, readContent, readFinishReason } from "./chunk.ts";
import { findUntranslatable, printRequest } from "./egress/print-request.ts";
import { readEvents, readReply } from "./egress/read-answer.ts";
import { printEvents, printReply } from "./ingress/print-answer.ts";
import { readStream } from "./passthrough/stream.ts";
import { ID_CHARS_MAX } from "./reasoning.ts";
import { parseRequest, printUpstreamRequest } from "./request.ts";

/**
 * OpenAI's chat completions, which most hosts of open models speak too.
 *
 * @see https://platform.openai.com/docs/api-reference/chat
 */
export const openaiChat: WireFormat = {
  surface: "chat",
  path: "/v1/chat/completions",
  upstreamPath: () => "/chat/completions",
  headers: {},
  forwardedHeaders: [],
  conversation: { member: "messages", keeps: () => true },
  parseRequest,
  printUpstreamRequest,
  readStream,
  readWhole,
  ingress: { printStream: printEvents, printWhole: printReply },
  egress: {
    nameCharsMax: 64,
    idCharsMax: ID_CHARS_MAX,
    findUntranslatable,
    printRequest,
    readStream: readEvents,
    readWhole: readReply,
  },
  readPromptTooLong,
  limitHeaders: openaiLimitHeaders,
  statusOf,
  printError,
  printErrorFrame,
  sendsErrorInStream: () => false,
  keepAlive: ": ping\n\n",
};

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

/**
 * Reads a whole chat answer. The body passes through except the model's name and finish reasons that clients
 * do not know. Throws {@link UpstreamFault} for anything else.
 */
function readWhole(request: RequestHead, text: string): ReplyPart {
  const body = parseJsonObject(text, ANSWER_MAX);
  const list = readArray(body?.choices);
  if (body?.error) throw faultOf(body.error);
  if (body === undefined || list.length === 0) throw new UpstreamFault("The answer has no choices");

  const choices = list.map(readChoice);
  const edits: Record<string, ValueEdit> = { model: () => JSON.stringify(request.model) };
  let generated = "";
  let isReadable = false;
  let audioBytes = 0;
  for (const choice of choices) {
    generated += choice.generated;
    audioBytes += choice.audioBytes ?? 0;
    isReadable ||= choice.isReadable;
    if (choice.reason !== choice.upstreamReason) edits.choices ??= (raw) => editReasons(raw, choices);
  }
  const usage = readUsage(body.usage);
  const part = {
    text: editMembers(text, edits),
    isOutput: true,
    isReadable,
    generated,
    usage,
    ...(audioBytes > 0 && { audioBytes }),
  };
  return withServed(part, readServed(body.service_tier), request);
}

interface WholeChoice extends Content {
  readonly reason: FinishReason;
  readonly upstreamReason: unknown;
}

function readChoice(choice: unknown): WholeChoice {
  if (!isJsonObject(choice) || !isJsonObject(choice.message))
    throw new UpstreamFault("A choice has no message");
  if (choice.error) throw new UpstreamFault("A choice is an error");
  const content = readContent(choice.message);
  const reason = readFinishReason(choice.finish_reason, calledTools(choice.message));
  if (reason === undefined) throw new UpstreamFault("The answer has no finish");
  const isReadable = content.isReadable || reason === "content_filter";
  return { ...content, isReadable, reason, upstreamReason: choice.finish_reason };
}

function calledTools(message: JsonObject): boolean {
  return readArray(message.tool_calls).length > 0;
}

function editReasons(raw: string | undefined, choices: readonly WholeChoice[]): string | undefined {
  return (
    raw &&
    editElements(raw, (choice, position) =>
      editMembers(choice, { finish_reason: () => JSON.stringify(choices[position]?.reason) }),
    )
  );
}
