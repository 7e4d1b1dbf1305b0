import { openaiLimitHeaders } from "../limit-headers.ts";
import type { WireProtocol } from "../protocol.ts";
import { ID_CHARS_MAX } from "./egress/print-reasoning.ts";
import { findUntranslatable, printRequest } from "./egress/print-request.ts";
import { readEvents, readReply } from "./egress/read-answer.ts";
import { printError, printErrorFrame, readPromptTooLong, statusOf } from "./error.ts";
import { printEvents, printReply } from "./ingress/print-answer.ts";
import { readWhole } from "./passthrough/reply.ts";
import { readStream } from "./passthrough/stream.ts";
import { parseRequest, printUpstreamRequest } from "./request.ts";

/**
 * OpenAI's chat completions, which most hosts of open models speak too.
 *
 * @see https://platform.openai.com/docs/api-reference/chat
 */
export const openaiChat: WireProtocol = {
  surface: "chat",
  path: "/v1/chat/completions",
  upstreamPath: () => "/chat/completions",
  headers: {},
  forwardedHeaders: [],
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
