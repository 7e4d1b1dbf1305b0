import { anthropicLimitHeaders } from "../limit-headers.ts";
import type { WireProtocol } from "../protocol.ts";
import { printSse } from "../sse.ts";
import { findUntranslatable } from "./egress/print-messages.ts";
import { printRequest } from "./egress/print-request.ts";
import { readEvents, readReply } from "./egress/read-answer.ts";
import { printError, printErrorFrame, readPromptTooLong, statusOf } from "./error.ts";
import { printEvents, printReply } from "./ingress/print-answer.ts";
import { readWhole } from "./passthrough/reply.ts";
import { readStream } from "./passthrough/stream.ts";
import { parseRequest, printUpstreamRequest } from "./request.ts";

/**
 * Anthropic's messages format.
 *
 * @see https://docs.anthropic.com/en/api/messages
 */
export const anthropicMessages: WireProtocol = {
  surface: "messages",
  path: "/v1/messages",
  upstreamPath: () => "/v1/messages",
  // This version accepts a temperature. The client's own `anthropic-version` header takes precedence.
  headers: { "anthropic-version": "2023-06-01" },
  forwardedHeaders: ["anthropic-version", "anthropic-beta"],
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
