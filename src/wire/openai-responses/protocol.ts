import type { WireProtocol } from "../wire-protocol.ts";
import { printEvents } from "./client/print-events.ts";
import { printReply } from "./client/print-reply.ts";
import { printError, printErrorFrame, refusesInStream, statusOf } from "./error.ts";
import { parseRequest, printUpstreamRequest } from "./request.ts";
import { readPromptTooLong } from "./too-long.ts";
import { readWhole } from "./verbatim/reply.ts";
import { readStream } from "./verbatim/stream.ts";

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
  statusOf,
  printError,
  printErrorFrame,
  refusesInStream,
  keepAlive: ": ping\n\n",
};
