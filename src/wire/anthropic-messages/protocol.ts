import { findPromptTooLong, type TooLongPhrases } from "../prompt-too-long.ts";
import { printSse } from "../sse.ts";
import type { WireProtocol } from "../wire-protocol.ts";
import { printEvents } from "./client/print-events.ts";
import { printReply } from "./client/print-reply.ts";
import { printError, printErrorFrame, statusOf } from "./error.ts";
import { parseRequest, printUpstreamRequest } from "./request.ts";
import { findUntranslatable } from "./upstream/find-untranslatable.ts";
import { printRequest } from "./upstream/print-request.ts";
import { readEvents } from "./upstream/read-events.ts";
import { readReply } from "./upstream/read-reply.ts";
import { readWhole } from "./verbatim/reply.ts";
import { readStream } from "./verbatim/stream.ts";

const TOO_LONG: TooLongPhrases = {
  said: /prompt is too long/i,
  tokens: [/prompt is too long\D{0,40}(\d[\d,]{0,11}) tokens/i],
};

/** Anthropic's messages. */
export const anthropicMessages: WireProtocol = {
  surface: "messages",
  path: "/v1/messages",
  upstreamPath: "/v1/messages",
  // The version that still takes a temperature; a client that says its own keeps it.
  headers: { "anthropic-version": "2023-06-01" },
  forwardedHeaders: ["anthropic-version", "anthropic-beta"],
  parseRequest,
  printUpstreamRequest,
  readStream,
  readWhole,
  client: { printStream: printEvents, printWhole: printReply },
  upstream: {
    nameCharsMax: 128,
    idCharsMax: 64,
    findUntranslatable,
    printRequest,
    readStream: readEvents,
    readWhole: readReply,
  },
  readPromptTooLong: (text) => findPromptTooLong(text, TOO_LONG),
  statusOf,
  printError,
  printErrorFrame,
  refusesInStream: () => false,
  keepAlive: printSse({ event: "ping", data: '{"type": "ping"}' }),
};
