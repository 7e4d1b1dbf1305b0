import { limitHeaders } from "../openai-limit-headers.ts";
import { findPromptTooLong, type TooLongPhrases } from "../prompt-too-long.ts";
import type { WireProtocol } from "../protocol.ts";
import { findUntranslatable, printRequest } from "./egress/print-request.ts";
import { readEvents } from "./egress/read-events.ts";
import { readReply } from "./egress/read-reply.ts";
import { printError, printErrorFrame, statusOf } from "./error.ts";
import { ID_CHARS_MAX } from "./id-chars.ts";
import { printEvents } from "./ingress/print-events.ts";
import { printReply } from "./ingress/print-reply.ts";
import { readWhole } from "./passthrough/reply.ts";
import { readStream } from "./passthrough/stream.ts";
import { parseRequest, printUpstreamRequest } from "./request.ts";

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
  limitHeaders,
  statusOf,
  printError,
  printErrorFrame,
  refusesInStream: () => false,
  keepAlive: ": ping\n\n",
};
