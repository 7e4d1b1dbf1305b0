import type { Finish, NeutralAnswer, NeutralCall } from "../../support/format-pairs/neutral-answer.ts";

/** An answer as a client library exposes it, in a form that all libraries share. */
export interface ReadAnswer {
  readonly text: string;
  /** "" when the library does not expose reasoning. */
  readonly reasoning: string;
  readonly calls: readonly NeutralCall[];
  readonly finish: Finish;
  /** `input` counts all input tokens, including `cached` ones. */
  readonly usage: { readonly input: number; readonly cached: number; readonly output: number };
}

/** The gateway and the model that a library uses. */
export interface Target {
  /** Base address of the gateway, without a path. */
  readonly url: string;
  readonly secret: string;
  readonly model: string;
}

/** A client library, with its ways to request a stream and a whole answer. */
export interface Client {
  readonly name: string;
  readonly surface: "chat" | "messages" | "responses";
  /** Whether the library exposes reasoning. */
  readonly showsReasoning: boolean;
  stream(target: Target): Promise<ReadAnswer>;
  whole(target: Target): Promise<ReadAnswer>;
}

export const PROMPT = "What is the weather in Oslo?";

/** The tools that the samples call. */
export const TOOL_NAMES = ["get_weather", "tool_1", "tool_2", "tool_3", "tool_4", "tool_5"];

export const THINKING_TOKENS = 1_024;
export const OUTPUT_TOKENS_MAX = 4_000;

/** The answer that a library should expose for a sample. */
export function expectedAnswer(
  { showsReasoning }: Client,
  { text, reasoning, calls, finish, usage }: NeutralAnswer,
): ReadAnswer {
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

const FINISHES: Readonly<Record<string, Finish>> = {
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

/** Converts a library's finish reason. Throws for an unknown one. */
export function finishOf(reason: unknown): Finish {
  const finish = FINISHES[String(reason)];
  if (!finish) throw new Error(`The library reported the unknown finish reason ${reason}`);
  return finish;
}
