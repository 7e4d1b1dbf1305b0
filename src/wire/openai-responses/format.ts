import type { WireFormat } from "../format.ts";
import { type Edits, editMembers } from "../json/edit.ts";
import { ANSWER_MAX, parseJsonObject } from "../json/read.ts";
import type { JsonMeasure } from "../json/scan.ts";
import { openaiLimitHeaders } from "../limit-headers.ts";
import type { ModelRequest, RequestHead, UpstreamRequestOptions } from "../model-request.ts";
import type { ReplyPart } from "../reply-part.ts";
import { reject } from "../request-body.ts";
import { readServed, withServed } from "../tiers.ts";
import { UpstreamFault } from "../upstream-fault.ts";
import { printEvents, printReply } from "./ingress/print-answer.ts";
import { readStream, readWhole } from "./passthrough/stream.ts";
import {
  dropUnreadable,
  editInput,
  editsWithoutTools,
  parseRequest,
  printUpstreamRequest,
  SENT_ONCE,
} from "./request.ts";
import {
  printError,
  printErrorFrame,
  readPromptTooLong,
  readUsage,
  sendsErrorInStream,
  statusOf,
} from "./response.ts";

/**
 * OpenAI's responses format. It has no egress: only its own clients reach an upstream in it. Clients of other
 * formats reach such an upstream through chat completions, which it offers too.
 *
 * @see https://platform.openai.com/docs/api-reference/responses
 */
export const openaiResponses: WireFormat = {
  surface: "responses",
  path: "/v1/responses",
  upstreamPath: () => "/responses",
  headers: {},
  forwardedHeaders: [],
  conversation: { member: "input", keeps: (list) => dropUnreadable(list) === list },
  parseRequest,
  printUpstreamRequest,
  readStream,
  readWhole,
  ingress: { printStream: printEvents, printWhole: printReply },
  egress: undefined,
  readPromptTooLong,
  limitHeaders: openaiLimitHeaders,
  statusOf,
  printError,
  printErrorFrame,
  sendsErrorInStream,
  keepAlive: ": ping\n\n",
};

/**
 * OpenAI's compaction of a conversation, whose body and answer are like those of responses. It is passed through
 * and never translated: its answer has an item that only the provider can read.
 *
 * @see https://platform.openai.com/docs/api-reference/responses/compact
 */
export const openaiCompact: WireFormat = {
  ...openaiResponses,
  surface: "compact",
  path: "/v1/responses/compact",
  upstreamPath: () => "/responses/compact",
  parseRequest: parseCompactRequest,
  printUpstreamRequest: printCompactRequest,
  readWhole: readCompacted,
  ingress: undefined,
};

/**
 * Parses and checks a body as responses do. Throws `wrong_shape` also for a stream or an output limit, which
 * this endpoint does not have: the output is bounded by the model alone.
 */
function parseCompactRequest(text: string, measured?: JsonMeasure): ModelRequest {
  const request = parseRequest(text, measured);
  if (request.stream) reject("stream");
  if (request.outputTokensMax !== undefined) reject("max_output_tokens");
  return { ...request, outputTokensBound: "model" };
}

function printCompactRequest(request: ModelRequest, options: UpstreamRequestOptions): string {
  const dropping = editsWithoutTools(request, options);
  const edits: Edits = {
    ...dropping,
    model: () => JSON.stringify(options.model),
    input: editInput(dropping),
  };
  return editMembers(request.text, edits, SENT_ONCE);
}

/**
 * Reads a compacted conversation: the user's messages, which are no output, and the encrypted rest. Without a
 * report of usage it therefore costs its input. Throws {@link UpstreamFault}.
 */
function readCompacted(request: RequestHead, text: string): ReplyPart {
  const body = parseJsonObject(text, ANSWER_MAX);
  if (body === undefined || !Array.isArray(body.output) || body.output.length === 0)
    throw new UpstreamFault("The answer is no compacted conversation");
  const part = {
    text: editMembers(text, { model: (value) => value && JSON.stringify(request.model) }),
    isOutput: true,
    isReadable: true,
    generated: "",
    usage: readUsage(body.usage),
  };
  return withServed(part, readServed(body.service_tier), request);
}
