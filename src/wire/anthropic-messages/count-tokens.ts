import { editMembers } from "../json/edit.ts";
import { parseJsonObject } from "../json/read.ts";
import type { ModelRequest } from "../model-request.ts";
import { allowBodyBetas } from "./betas.ts";
import { dropSeals } from "./passthrough/drop-seals.ts";
import { dropNewThread } from "./stored.ts";

/** Where a messages body is counted instead of answered, at the gateway and at an upstream. */
export const COUNT_PATH = "/v1/messages/count_tokens";

/** The body for an upstream: its model name, no new thread, no foreign seals, the betas it may get, and the rest as sent. */
export function printCountRequest(
  { text, betas }: ModelRequest,
  model: string,
  allowed?: readonly string[],
): string {
  return editMembers(text, {
    model: () => JSON.stringify(model),
    messages: (value) => value && dropSeals(value),
    thread: dropNewThread,
    ...(betas && allowBodyBetas(allowed)),
  });
}

/** The tokens that an upstream counted, a whole number from 0; `undefined` for what is no such answer. */
export function readCount(text: string): number | undefined {
  const tokens = parseJsonObject(text)?.input_tokens;
  const isCount = typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens >= 0;
  return isCount ? tokens : undefined;
}

export function printCount(tokens: number): string {
  return JSON.stringify({ input_tokens: tokens });
}
