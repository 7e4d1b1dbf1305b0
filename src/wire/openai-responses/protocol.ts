import { limitHeaders } from "../openai-limit-headers.ts";
import type { WireProtocol } from "../protocol.ts";
import { printError, printErrorFrame, refusesInStream, statusOf } from "./error.ts";
import { printEvents } from "./ingress/print-events.ts";
import { printReply } from "./ingress/print-reply.ts";
import { readWhole } from "./passthrough/reply.ts";
import { readStream } from "./passthrough/stream.ts";
import { parseRequest, printUpstreamRequest } from "./request.ts";
import { readPromptTooLong } from "./too-long.ts";

/**
 * OpenAI's responses. Upstreams that have them are spoken to in them by clients of the same format only: all others
 * reach them by chat completions, which they have too.
 */
export const openaiResponses: WireProtocol = {
  surface: "responses",
  path: "/v1/responses",
  upstreamPath: "/responses",
  headers: {},
  forwardedHeaders: [],
  parseRequest,
  printUpstreamRequest,
  readStream,
  readWhole,
  client: { printStream: printEvents, printWhole: printReply },
  upstream: undefined,
  readPromptTooLong,
  limitHeaders,
  statusOf,
  printError,
  printErrorFrame,
  refusesInStream,
  keepAlive: ": ping\n\n",
};
