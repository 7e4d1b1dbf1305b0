import { openaiLimitHeaders } from "../limit-headers.ts";
import type { WireProtocol } from "../protocol.ts";
import { printError, printErrorFrame, readPromptTooLong, sendsErrorInStream, statusOf } from "./error.ts";
import { printEvents, printReply } from "./ingress/print-answer.ts";
import { readStream, readWhole } from "./passthrough/stream.ts";
import { parseRequest, printUpstreamRequest } from "./request.ts";

/**
 * OpenAI's responses format. It has no egress: only its own clients reach an upstream in it. Clients of other
 * formats reach such an upstream through chat completions, which it offers too.
 *
 * @see https://platform.openai.com/docs/api-reference/responses
 */
export const openaiResponses: WireProtocol = {
  surface: "responses",
  path: "/v1/responses",
  upstreamPath: () => "/responses",
  headers: {},
  forwardedHeaders: [],
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
