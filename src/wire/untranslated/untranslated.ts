import { isCount, NO_USAGE, type Usage } from "../../domain/usage.ts";
import { GatewayError } from "../../errors.ts";
import type { WireFormat } from "../format.ts";
import { editMembers, once } from "../json/edit.ts";
import { isJsonObject, readCount } from "../json/read.ts";
import { openaiLimitHeaders } from "../limit-headers.ts";
import type { ModelRequest, RequestHead } from "../model-request.ts";
import {
  openaiChat,
  printError,
  printErrorFrame,
  readPromptTooLong,
  statusOf,
} from "../openai-chat/format.ts";
import { createUnpricedRule, TIER_FIELDS } from "../unpriced-fields.ts";

type Own = "surface" | "path" | "parseRequest" | "printUpstreamRequest" | "readWhole";
type Optional = "aliases" | "headers" | "readStream" | "form";

/** What differs between the formats that are never translated. */
type UntranslatedFormat = Pick<WireFormat, Own> &
  Partial<Pick<WireFormat, Optional>> & {
    /** The path after an upstream's `base_url`. */
    readonly upstreamPath: `/${string}`;
  };

/**
 * Creates a format that no other provider's format is equivalent to, with OpenAI's errors and limit headers.
 */
export function createUntranslated({ upstreamPath, ...own }: UntranslatedFormat): WireFormat {
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

/** The functions of a format whose requests are forms: it never reads or prints a body of JSON. */
export function readsForms(request: string): Pick<WireFormat, "parseRequest" | "printUpstreamRequest"> {
  const refuse = () => {
    throw new Error(`A ${request} request is a form`);
  };
  return { parseRequest: refuse, printUpstreamRequest: refuse };
}

const TIERS = Object.keys(TIER_FIELDS);
/** The rule of formats whose bodies are sent with each field of a service tier once. */
export const UNPRICED_RULE = createUnpricedRule(new Set(TIERS));

/** Returns the names of what the gateway checks or edits: these fields, and those of every body. */
export function fieldsWith(...checked: readonly string[]): ReadonlySet<string> {
  return new Set(["model", "stream", ...checked, ...UNPRICED_RULE.names]);
}

/** Creates the printer of a body for an upstream: its model name, each checked field once, and no `stream`. */
export function printsOnce(fields: readonly string[]): WireFormat["printUpstreamRequest"] {
  const edits = Object.fromEntries([...fields, ...TIERS].map((name) => [name, once]));
  return ({ text }, { model }) =>
    editMembers(text, { ...edits, model: () => JSON.stringify(model), stream: () => undefined });
}

/** The facts of a request without an output limit, a reasoning budget or a choice of answers. */
export function plainFacts(own: Pick<RequestHead, "model" | "input"> & Partial<RequestHead>): RequestHead {
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
  facts: RequestHead,
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

/**
 * Reads a usage all of which is input, as embeddings and rerankers report. Tokens that only `total_tokens`
 * includes are input too: some hosts count images that way. Impossible counts are kept; `undefined` if no
 * count is a number.
 *
 * @see https://platform.openai.com/docs/api-reference/embeddings
 */
export function readInputUsage(usage: unknown): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage;
  const inputTokens = typeof prompt === "number" ? prompt : total;
  if (typeof inputTokens !== "number") return undefined;
  const gap = isCount(total) ? total - readCount(completion) - inputTokens : 0;
  return { ...NO_USAGE, inputTokens: inputTokens >= 0 && gap > 0 ? inputTokens + gap : inputTokens };
}
