import type { Finish, NeutralAnswer, NeutralCall } from "../../support/protocol-pairs/neutral-answer.ts";

/** What a client library made of an answer, in words that all of them share. */
export interface Heard {
  readonly text: string;
  /** "" where the library has no place for it. */
  readonly reasoning: string;
  readonly calls: readonly NeutralCall[];
  readonly finish: Finish;
  /** `input` is all of it, of which `cached` came from a cache. */
  readonly usage: { readonly input: number; readonly cached: number; readonly output: number };
}

/** Where a library finds its model. */
export interface Target {
  /** Of the gateway, without a path. */
  readonly url: string;
  readonly secret: string;
  readonly model: string;
}

/** One client library, asked by the ways it has for a stream and for a whole answer. */
export interface Client {
  readonly name: string;
  readonly surface: "chat" | "messages" | "responses";
  /** Whether it has a place for reasoning. */
  readonly showsReasoning: boolean;
  stream(target: Target): Promise<Heard>;
  whole(target: Target): Promise<Heard>;
}

export const PROMPT = "What is the weather in Oslo?";

/** The tools that the samples call. */
export const TOOL_NAMES = ["get_weather", "tool_1", "tool_2", "tool_3", "tool_4", "tool_5"];

export const THINKING_TOKENS = 1_024;
export const OUTPUT_TOKENS_MAX = 4_000;

/** What a library should have made of what was said. */
export function heardBy(
  { showsReasoning }: Client,
  { text, reasoning, calls, finish, usage }: NeutralAnswer,
): Heard {
  if (!usage) throw new Error("Every sample reports its usage");
  const { input, cached, written, output } = usage;
  return {
    text,
    reasoning: showsReasoning ? reasoning : "",
    calls,
    finish,
    usage: { input: input + cached + written, cached, output },
  };
}

const WORDS: Readonly<Record<string, Finish>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool_calls",
  content_filter: "content_filter",
  end_turn: "stop",
  max_tokens: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
  "tool-calls": "tool_calls",
  "content-filter": "content_filter",
};

/** A library's own word for a finish. Throws when it has understood none. */
export function finishOf(word: unknown): Finish {
  const finish = WORDS[String(word)];
  if (!finish) throw new Error(`The library made a finish of ${word}`);
  return finish;
}
