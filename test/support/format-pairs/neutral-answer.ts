/**
 * A model answer, independent of any protocol. The scripted upstream encodes it and a client decodes it: both
 * must be equal, whatever the gateway translates between them.
 */
export interface NeutralAnswer {
  readonly reasoning: string;
  readonly text: string;
  readonly refusal: string;
  readonly calls: readonly NeutralCall[];
  readonly finish: Finish;
  readonly usage: NeutralUsage | undefined;
}

/** A tool call of a neutral answer. */
export interface NeutralCall {
  readonly id: string;
  readonly name: string;
  /** A JSON value, because no protocol keeps the white space of its text. */
  readonly input: unknown;
}

/** Why an answer ended. */
export type Finish = "stop" | "length" | "tool_calls" | "content_filter";

/** Token counts in disjoint classes. */
export interface NeutralUsage {
  readonly input: number;
  readonly cached: number;
  readonly written: number;
  readonly output: number;
}

/** A short answer with some members changed. */
export function neutralAnswer(more: Partial<NeutralAnswer> = {}): NeutralAnswer {
  return {
    reasoning: "",
    text: "Hello there, friend.",
    refusal: "",
    calls: [],
    finish: "stop",
    usage: { input: 11, cached: 0, written: 0, output: 7 },
    ...more,
  };
}

/** The price of a usage in the test catalog, in nano-USD. */
export function nanosOf({ input, cached, written, output }: NeutralUsage): bigint {
  return BigInt(1_000 * input + 100 * cached + 1_250 * written + 2_000 * output);
}

/** Splits a text into stream pieces of up to five characters. Some end within a word. */
export function piecesOf(text: string): string[] {
  return text.match(/[\s\S]{1,5}/gu) ?? [];
}

const oslo = {
  id: "call_oslo_1",
  name: "get_weather",
  input: { city: "Oslo", days: [1, 2.5], deep: { a: null } },
};
const rome = { id: "call_rome_2", name: "get_weather", input: { city: 'R"o\\me\n\u2028😀' } };
const usage = { input: 21, cached: 0, written: 0, output: 34 };

/** Answers of a model that are difficult to translate. */
export const SAMPLE_ANSWERS: Readonly<Record<string, NeutralAnswer>> = {
  "a text": neutralAnswer({
    text: 'Grüße, 世界 😀!\n\n  two  spaces, "quotes" \\ and </script> \u0000\u2029 end.',
  }),
  "a text after thinking": neutralAnswer({ reasoning: "Let me think: 1 + 1 = 2.\n", text: "It is 2." }),
  "a call": neutralAnswer({ text: "", calls: [oslo], finish: "tool_calls", usage }),
  "a call after thinking": neutralAnswer({
    reasoning: "The weather.",
    text: "",
    calls: [rome],
    finish: "tool_calls",
  }),
  "two calls at once": neutralAnswer({ text: "Both:", calls: [oslo, rome], finish: "tool_calls", usage }),
  "five calls at once": neutralAnswer({
    text: "",
    calls: [1, 2, 3, 4, 5].map((n) => ({
      id: `call_${n}`,
      name: `tool_${n}`,
      input: { n: "x".repeat(n * 7) },
    })),
    finish: "tool_calls",
  }),
  "two calls without arguments": neutralAnswer({
    text: "",
    calls: [oslo, rome].map((call) => ({ ...call, input: {} })),
    finish: "tool_calls",
  }),
  "a text that was too long": neutralAnswer({ text: "And then, and th", finish: "length" }),
  "a text that was filtered": neutralAnswer({ text: "First you take", finish: "content_filter" }),
  "a text from the cache": neutralAnswer({ usage: { input: 10, cached: 4, written: 3, output: 7 } }),
  "a text that is all cached": neutralAnswer({ usage: { input: 0, cached: 4_096, written: 0, output: 1 } }),
};
