import { findPromptTooLong, type TooLongPhrases } from "../prompt-too-long.ts";
import type { WireProtocol } from "../wire-protocol.ts";
import { printEvents } from "./client/print-events.ts";
import { printReply } from "./client/print-reply.ts";
import { printError, printErrorFrame, statusOf } from "./error.ts";
import { ID_CHARS_MAX } from "./id-chars.ts";
import { parseRequest, printUpstreamRequest } from "./request.ts";
import { findUntranslatable, printRequest } from "./upstream/print-request.ts";
import { readEvents } from "./upstream/read-events.ts";
import { readReply } from "./upstream/read-reply.ts";
import { readWhole } from "./verbatim/reply.ts";
import { readStream } from "./verbatim/stream.ts";

const TOO_LONG: TooLongPhrases = {
  said: /context_length_exceeded|maximum context length|exceed the configured limit|prompt is too long/i,
  tokens: [
    /(\d[\d,]{0,11}) in the messages/i,
    /resulted in (\d[\d,]{0,11}) tokens/i,
    /your request has (\d[\d,]{0,11}) input tokens/i,
    /you requested (\d[\d,]{0,11}) tokens/i,
    /prompt is too long: (\d[\d,]{0,11}) tokens/i,
  ],
};

/** OpenAI's chat completions, which most hosts of open models speak too. */
export const openaiChat: WireProtocol = {
  surface: "chat",
  path: "/v1/chat/completions",
  upstreamPath: "/chat/completions",
  headers: {},
  forwardedHeaders: [],
  parseRequest,
  printUpstreamRequest,
  readStream,
  readWhole,
  client: { printStream: printEvents, printWhole: printReply },
  upstream: {
    nameCharsMax: 64,
    idCharsMax: ID_CHARS_MAX,
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
  keepAlive: ": ping\n\n",
};
