import { printError, printErrorFrame, statusOf } from "../openai-chat/error.ts";
import { openaiChat } from "../openai-chat/protocol.ts";
import { limitHeaders } from "../openai-limit-headers.ts";
import type { WireProtocol } from "../protocol.ts";
import { readStream, readWhole } from "./reply.ts";
import { parseRequest, printUpstreamRequest } from "./request.ts";

/** OpenAI's embeddings. No other provider's format says the same, so they are never translated. */
export const openaiEmbeddings: WireProtocol = {
  surface: "embeddings",
  path: "/v1/embeddings",
  upstreamPath: "/embeddings",
  headers: {},
  forwardedHeaders: [],
  parseRequest,
  printUpstreamRequest,
  readStream,
  readWhole,
  client: undefined,
  upstream: undefined,
  readPromptTooLong: openaiChat.readPromptTooLong,
  limitHeaders,
  statusOf,
  printError,
  printErrorFrame,
  refusesInStream: () => false,
  keepAlive: openaiChat.keepAlive,
};
