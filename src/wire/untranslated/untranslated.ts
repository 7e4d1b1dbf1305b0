import { GatewayError } from "../../errors.ts";
import { openaiLimitHeaders } from "../limit-headers.ts";
import type { ModelRequest, RequestFacts } from "../model-request.ts";
import {
  openaiChat,
  printError,
  printErrorFrame,
  readPromptTooLong,
  statusOf,
} from "../openai-chat/protocol.ts";
import type { WireProtocol } from "../protocol.ts";

type Own = "surface" | "path" | "parseRequest" | "printUpstreamRequest" | "readWhole";
type Optional = "aliases" | "headers" | "readStream" | "form";

/** What differs between the formats that are never translated. */
export type UntranslatedFormat = Pick<WireProtocol, Own> &
  Partial<Pick<WireProtocol, Optional>> & {
    /** The path after an upstream's `base_url`. */
    readonly upstreamPath: `/${string}`;
  };

/**
 * Creates a format that no other provider's format is equivalent to, with OpenAI's errors and limit headers.
 */
export function createUntranslated({ upstreamPath, ...own }: UntranslatedFormat): WireProtocol {
  return {
    headers: {},
    forwardedHeaders: [],
    readStream() {
      throw new Error(`The ${own.surface} format is not streamed`);
    },
    ...own,
    upstreamPath: () => upstreamPath,
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
}

/** The facts of a request without an output limit, a reasoning budget or a choice of answers. */
export function plainFacts(own: Pick<RequestFacts, "model" | "input"> & Partial<RequestFacts>): RequestFacts {
  return {
    stream: false,
    outputTokensMax: 0,
    outputLimitField: undefined,
    thinkingTokens: 0,
    choices: 1,
    wantsUsage: false,
    ...own,
  };
}

/** A request that is never translated. */
export function untranslatedRequest(
  text: string,
  facts: RequestFacts,
  promptText: () => string,
): ModelRequest {
  return {
    ...facts,
    text,
    promptText,
    readChat() {
      throw new GatewayError("not_built");
    },
  };
}
