import type { ModelOutput } from "../support/model-output.ts";
import { OUTPUT_TOKENS_MAX, UPSTREAMS, type UpstreamName } from "./plan.ts";

/** The output of an upstream for a request. No other upstream or request has the same text or usage. */
export function taggedOutput(
  upstream: UpstreamName,
  number: number,
): Required<Pick<ModelOutput, "text" | "usage">> {
  return { text: textOf(upstream, number), usage: usageOf(upstream, number) };
}

/** Returns the upstream whose text for the request begins like this; `undefined` for any other text. */
export function upstreamOfText(text: string, number: number): UpstreamName | undefined {
  return UPSTREAMS.find((upstream) => text !== "" && textOf(upstream, number).startsWith(text));
}

export function isWholeText(text: string, upstream: UpstreamName, number: number): boolean {
  return text === textOf(upstream, number);
}

/** Returns the upstream and the request number that a usage encodes. Unique up to {@link NUMBERS_MAX}. */
export function upstreamOfUsage(outputTokens: number): {
  readonly upstream: UpstreamName | undefined;
  readonly number: number;
} {
  const upstream = UPSTREAMS[outputTokens % UPSTREAMS.length];
  return { upstream, number: Math.floor(outputTokens / UPSTREAMS.length) };
}

/** Usages repeat above this request number. */
const NUMBERS_MAX = OUTPUT_TOKENS_MAX / 4;

const INPUT_TOKENS = 20;

function usageOf(upstream: UpstreamName, number: number) {
  const output = UPSTREAMS.length * (number % NUMBERS_MAX) + UPSTREAMS.indexOf(upstream);
  return { input: INPUT_TOKENS, output };
}

function textOf(upstream: UpstreamName, number: number): string {
  const words = Array.from({ length: 4 + (number % 29) }, (_, index) => `word${index}`);
  return `${upstream} says to ${number}: ${words.join(" ")}.`;
}
