import { findPromptTooLong, type TooLongPhrases } from "../prompt-too-long.ts";
import { printSse } from "../sse.ts";
import type { WireProtocol } from "../wire-protocol.ts";
import { printError, printErrorFrame } from "./error.ts";
import { readWhole } from "./reply.ts";
import { parseRequest, printUpstreamRequest } from "./request.ts";
import { readStream } from "./stream.ts";

const TOO_LONG: TooLongPhrases = {
  said: /prompt is too long/i,
  tokens: [/prompt is too long\D{0,40}(\d[\d,]{0,11}) tokens/i],
};

/** Anthropic's messages. */
export const anthropicMessages: WireProtocol = {
  protocol: "anthropic",
  surface: "messages",
  path: "/v1/messages",
  upstreamPath: "/v1/messages",
  parseRequest,
  printUpstreamRequest,
  readStream,
  readWhole,
  readPromptTooLong: (text) => findPromptTooLong(text, TOO_LONG),
  printError,
  printErrorFrame,
  keepAlive: printSse({ event: "ping", data: '{"type": "ping"}' }),
};
