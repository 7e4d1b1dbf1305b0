import type { WireProtocol } from "../protocol.ts";
import { printSse } from "../sse.ts";
import { findPromptTooLong, type TooLongPhrases } from "../upstream-fault.ts";
import { findUntranslatable } from "./egress/print-messages.ts";
import { printRequest } from "./egress/print-request.ts";
import { readEvents } from "./egress/read-events.ts";
import { readReply } from "./egress/read-reply.ts";
import { printError, printErrorFrame, statusOf } from "./error.ts";
import { printEvents } from "./ingress/print-events.ts";
import { printReply } from "./ingress/print-reply.ts";
import { limitHeaders } from "./limit-headers.ts";
import { readWhole } from "./passthrough/reply.ts";
import { readStream } from "./passthrough/stream.ts";
import { parseRequest, printUpstreamRequest } from "./request.ts";

const TOO_LONG: TooLongPhrases = {
  phrase: /prompt is too long/i,
  tokens: [/prompt is too long\D{0,40}(\d[\d,]{0,11}) tokens/i],
};

/**
 * Anthropic's messages format.
 *
 * @see https://docs.anthropic.com/en/api/messages
 */
export const anthropicMessages: WireProtocol = {
  surface: "messages",
  path: "/v1/messages",
  upstreamPath: "/v1/messages",
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
  readPromptTooLong: (text) => findPromptTooLong(text, TOO_LONG),
  limitHeaders,
  statusOf,
  printError,
  printErrorFrame,
  sendsErrorInStream: () => false,
  keepAlive: printSse({ event: "ping", data: '{"type": "ping"}' }),
};
