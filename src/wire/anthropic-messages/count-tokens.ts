import type { CountFormat } from "../format.ts";
import { editMembers } from "../json/edit.ts";
import { parseJsonObject } from "../json/read.ts";
import type { CountOptions, ModelRequest } from "../model-request.ts";
import { allowBodyBetas } from "./betas.ts";
import { betaEdits } from "./host-edits.ts";
import { dropForeignReasoning } from "./request.ts";
import { dropNewThread } from "./stored.ts";

/**
 * Path of the token count endpoint, at the gateway and at an upstream.
 *
 * @see https://docs.anthropic.com/en/api/messages-count-tokens
 */
export const COUNT_PATH = "/v1/messages/count_tokens";

/** Anthropic's count of a prompt's tokens. Not every host of its models has it. */
export const countFormat: CountFormat = {
  path: () => COUNT_PATH,
  isKnownTo: (host) => !host || host.countsTokens === true,
  printRequest: printCountRequest,
  readCount,
  printCount,
};

/**
 * Prints the body for an upstream. Replaces the model name. Drops a new thread, reasoning that another host
 * signed, priced betas that are not allowed, and what a host refuses without its beta. Every other byte stays
 * as the client sent it.
 */
export function printCountRequest({ text, betas }: ModelRequest, options: CountOptions): string {
  const { model, betas: allowed, messagesHost } = options;
  return editMembers(text, {
    model: () => JSON.stringify(model),
    messages: (value) => value && dropForeignReasoning(value),
    thread: dropNewThread,
    ...(betas && allowBodyBetas(allowed)),
    ...(messagesHost && betaEdits(options, messagesHost, betas)),
  });
}

/** Returns the tokens that an upstream counted, an integer from 0, or `undefined` for any other answer. */
export function readCount(text: string): number | undefined {
  const tokens = parseJsonObject(text)?.input_tokens;
  const isCount = typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens >= 0;
  return isCount ? tokens : undefined;
}

/** Prints the answer for the client. */
export function printCount(tokens: number): string {
  return JSON.stringify({ input_tokens: tokens });
}
