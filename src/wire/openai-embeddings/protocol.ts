import { openaiLimitHeaders } from "../limit-headers.ts";
import { printError, printErrorFrame, readPromptTooLong, statusOf } from "../openai-chat/error.ts";
import { openaiChat } from "../openai-chat/protocol.ts";
import type { WireProtocol } from "../protocol.ts";
import { readWhole } from "./passthrough/reply.ts";
import { parseRequest, printUpstreamRequest } from "./request.ts";

/**
 * OpenAI's embeddings. No other provider's format is equivalent, so they are never translated.
 *
 * @see https://platform.openai.com/docs/api-reference/embeddings
 */
export const openaiEmbeddings: WireProtocol = {
  surface: "embeddings",
  path: "/v1/embeddings",
  upstreamPath: () => "/embeddings",
  headers: {},
  forwardedHeaders: [],
  parseRequest,
  printUpstreamRequest,
  readStream() {
    throw new Error("Embeddings are not streamed");
  },
  readWhole,
  ingress: undefined,
  egress: undefined,
  readPromptTooLong,
  limitHeaders: openaiLimitHeaders,
  statusOf,
  printError,
  printErrorFrame,
  sendsErrorInStream: () => false,
  keepAlive: openaiChat.keepAlive,
};
