import { type Said, said } from "./said.ts";

const oslo = {
  id: "call_oslo_1",
  name: "get_weather",
  input: { city: "Oslo", days: [1, 2.5], deep: { a: null } },
};
const rome = { id: "call_rome_2", name: "get_weather", input: { city: 'R"o\\me\n\u2028😀' } };
const usage = { input: 21, cached: 0, written: 0, output: 34 };

/** What a model may say, each with what is hard about it. */
export const SAMPLES: Readonly<Record<string, Said>> = {
  "a text": said({ text: 'Grüße, 世界 😀!\n\n  two  spaces, "quotes" \\ and </script> \u0000\u2029 end.' }),
  "a text after thinking": said({ reasoning: "Let me think: 1 + 1 = 2.\n", text: "It is 2." }),
  "a call": said({ text: "", calls: [oslo], finish: "tool_calls", usage }),
  "a call after thinking": said({ reasoning: "The weather.", text: "", calls: [rome], finish: "tool_calls" }),
  "two calls at once": said({ text: "Both:", calls: [oslo, rome], finish: "tool_calls", usage }),
  "five calls at once": said({
    text: "",
    calls: [1, 2, 3, 4, 5].map((n) => ({
      id: `call_${n}`,
      name: `tool_${n}`,
      input: { n: "x".repeat(n * 7) },
    })),
    finish: "tool_calls",
  }),
  "two calls without arguments": said({
    text: "",
    calls: [oslo, rome].map((call) => ({ ...call, input: {} })),
    finish: "tool_calls",
  }),
  "a text that was too long": said({ text: "And then, and th", finish: "length" }),
  "a text that was filtered": said({ text: "First you take", finish: "content_filter" }),
  "a text from the cache": said({ usage: { input: 10, cached: 4, written: 3, output: 7 } }),
  "a text that is all cached": said({ usage: { input: 0, cached: 4_096, written: 0, output: 1 } }),
};
