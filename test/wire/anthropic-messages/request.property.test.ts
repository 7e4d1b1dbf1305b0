import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../../src/errors.ts";
import {
  findUntranslatable,
  printRequest,
} from "../../../src/wire/anthropic-messages/egress/print-request.ts";
import { readChatRequest } from "../../../src/wire/anthropic-messages/ingress/read-request.ts";

const MAX_TOKENS = 4000;

const words = fc
  .string({ minLength: 1, maxLength: 12 })
  .filter((text) => text.trim() === text && text !== "");
const name = fc.stringMatching(/^[\w-]{1,12}$/);
const base64 = fc.base64String({ maxLength: 16 });
const url = name.map((each) => `https://example.com/${each}`);
const cache = fc.option(
  fc.constantFrom({ type: "ephemeral" }, { type: "ephemeral", ttl: "5m" }, { type: "ephemeral", ttl: "1h" }),
  { nil: undefined },
);
const marked = <Block>(block: fc.Arbitrary<Block>) =>
  fc
    .tuple(block, cache)
    .map(([each, cache_control]) => ({ ...each, ...(cache_control && { cache_control }) }));

const text = marked(fc.record({ type: fc.constant("text"), text: words }));
const urlSource = fc.record({ type: fc.constant("url"), url });
const inlineSource = (...types: string[]) =>
  fc.record({ type: fc.constant("base64"), media_type: fc.constantFrom(...types), data: base64 });
const textSource = fc.record({
  type: fc.constant("text"),
  media_type: fc.constant("text/plain"),
  data: words,
});
const image = marked(
  fc.record({
    type: fc.constant("image"),
    source: fc.oneof(urlSource, inlineSource("image/png", "image/jpeg", "image/gif", "image/webp")),
  }),
);
const document = marked(
  fc.record(
    {
      type: fc.constant("document"),
      source: fc.oneof(urlSource, textSource, inlineSource("application/pdf")),
      title: words,
    },
    { requiredKeys: ["type", "source"] },
  ),
);
const result = marked(
  fc.record(
    {
      type: fc.constant("tool_result"),
      tool_use_id: name,
      content: fc.oneof(words, fc.array(fc.oneof(text, image, document), { maxLength: 3 })),
      is_error: fc.boolean(),
    },
    { requiredKeys: ["type", "tool_use_id"] },
  ),
);
const call = marked(
  fc.record({
    type: fc.constant("tool_use"),
    id: name,
    name,
    input: fc.dictionary(name, fc.jsonValue({ maxDepth: 2 })),
  }),
);
const thinking = fc.oneof(
  fc.record({ type: fc.constant("thinking"), thinking: fc.string(), signature: base64.filter(Boolean) }),
  fc.record({ type: fc.constant("redacted_thinking"), data: base64 }),
);

const userContent = fc
  .tuple(fc.array(result, { maxLength: 2 }), fc.array(fc.oneof(text, image, document), { maxLength: 3 }))
  .map(([results, rest]) => [...results, ...rest])
  .filter((blocks) => blocks.length > 0);
const assistantContent = fc.array(fc.oneof(thinking, text, call), { minLength: 1, maxLength: 4 });
const exchange = fc.tuple(assistantContent, userContent).map(([assistant, user]) => [
  { role: "assistant", content: assistant },
  { role: "user", content: user },
]);
const messages = fc
  .tuple(fc.oneof(words, userContent), fc.array(exchange, { maxLength: 3 }))
  .map(([first, exchanges]) => [{ role: "user", content: first }, ...exchanges.flat()]);

const schema = fc.letrec<{ any: object }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(
      { type: "string", format: "date" },
      { type: "integer", description: "n" },
      { enum: ["a", 1] },
    ),
    fc.record({ type: fc.constant("array"), items: tie("any"), minItems: fc.constantFrom(0, 1) }),
    fc.record({ anyOf: fc.array(tie("any"), { minLength: 1, maxLength: 2 }) }),
    fc.record({
      type: fc.constant("object"),
      properties: fc.dictionary(name, tie("any"), { maxKeys: 2 }),
      required: fc.array(name, { maxLength: 2 }),
      additionalProperties: fc.constant(false),
    }),
  ),
})).any;
const objectSchema = fc.record({
  type: fc.constant("object"),
  properties: fc.dictionary(name, schema, { maxKeys: 2 }),
  additionalProperties: fc.constant(false),
});

const tool = marked(
  fc.record(
    { name, description: words, input_schema: objectSchema, strict: fc.constant(true) },
    { requiredKeys: ["name", "input_schema"] },
  ),
);
const choices = fc.constantFrom(
  {},
  { tool_choice: { type: "auto" } },
  { tool_choice: { type: "none" } },
  { tool_choice: { type: "auto", disable_parallel_tool_use: true } },
);
const forced = fc.constantFrom(
  { tool_choice: { type: "any" } },
  { tool_choice: { type: "tool", name: "f", disable_parallel_tool_use: true } },
);
const tools = (choice: fc.Arbitrary<object>) =>
  fc.tuple(fc.array(tool, { maxLength: 2 }), choice).map(([others, chosen]) => ({
    tools: [...others, { name: "f", input_schema: { type: "object" } }],
    ...chosen,
  }));

const sampling = fc.record(
  { temperature: fc.double({ min: 0, max: 1, noNaN: true }).map((each) => each + 0), top_k: fc.nat() },
  { requiredKeys: [] },
);
const notThinking = fc.tuple(
  tools(fc.oneof(choices, forced)),
  fc.oneof(sampling, fc.record({ top_p: fc.constant(0.5) })),
);
const effort = fc.constantFrom("low", "medium", "high", "xhigh", "max");
const adaptive = fc.tuple(
  tools(choices),
  fc.record({
    thinking: fc.constantFrom(
      { type: "adaptive", display: "summarized" },
      { type: "adaptive", display: "omitted" },
    ),
    output_config: fc.record({ effort }, { requiredKeys: [] }),
  }),
);
const settings = fc
  .oneof(notThinking, adaptive, fc.tuple(tools(choices), fc.constant({ thinking: { type: "disabled" } })))
  .map(([some, others]): object => ({ ...some, ...others }));

const body = fc
  .tuple(
    fc.record(
      {
        messages,
        system: fc.oneof(words, fc.array(text, { maxLength: 2 })),
        stop_sequences: fc.array(words, { maxLength: 2 }),
        metadata: name.filter((each) => /[a-z]/i.test(each)).map((user_id) => ({ user_id })),
        output_format: objectSchema.map((each) => ({ type: "json_schema", schema: each })),
      },
      { requiredKeys: ["messages"] },
    ),
    settings,
  )
  .map(([conversation, setting]) =>
    JSON.stringify({ model: "m", max_tokens: MAX_TOKENS, ...conversation, ...setting }),
  );

const OPTIONS = {
  model: "m",
  outputTokensMax: MAX_TOKENS,
  outputLimitField: undefined,
  stream: false,
  traits: { reasoning: "adaptive", sampling: true },
} as const;

const TRAITS = (["none", "effort", "budget", "adaptive"] as const).map((reasoning) => ({
  reasoning,
  sampling: true,
}));

const anyValue = fc.jsonValue({ maxDepth: 3 });
const oddBlock = fc.record(
  {
    type: fc.constantFrom(
      "text",
      "image",
      "document",
      "tool_use",
      "tool_result",
      "thinking",
      "x_tool_result",
    ),
    text: fc.oneof(words, anyValue),
    source: fc.oneof(urlSource, inlineSource("image/png", "x"), anyValue),
    content: fc.oneof(fc.array(text), anyValue),
    id: anyValue,
    tool_use_id: fc.oneof(name, anyValue),
    name: fc.oneof(name, anyValue),
    input: fc.oneof(fc.object(), anyValue),
    cache_control: anyValue,
  },
  { requiredKeys: ["type"] },
);
const malformed = fc.record(
  {
    messages: fc.array(
      fc.record({
        role: fc.constantFrom("user", "assistant", "system"),
        content: fc.oneof(words, fc.array(fc.oneof(oddBlock, text), { maxLength: 3 }), anyValue),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    system: fc.oneof(words, anyValue),
    tools: fc.oneof(fc.array(tool), anyValue),
    tool_choice: fc.oneof(fc.record({ type: fc.constantFrom("any", "tool", "auto"), name }), anyValue),
    thinking: fc.oneof(
      fc.record({ type: fc.constantFrom("enabled", "adaptive"), budget_tokens: anyValue }),
      anyValue,
    ),
    output_config: fc.oneof(
      fc.record({
        effort: anyValue,
        format: fc.record({ type: fc.constant("json_schema"), schema: fc.object() }),
      }),
      anyValue,
    ),
    metadata: anyValue,
    stop_sequences: fc.oneof(fc.array(fc.string()), anyValue),
  },
  { requiredKeys: ["messages"] },
);

describe("a random messages body", () => {
  test("reads back unchanged after printing, as far as the format can express it", () => {
    fc.assert(
      fc.property(body, (sent) => {
        const read = readChatRequest(JSON.parse(sent));
        expect(findUntranslatable(read)).toBeUndefined();
        const printed = printRequest(read, OPTIONS);
        expect(readChatRequest(JSON.parse(printed))).toEqual(read);
        expect(printRequest(readChatRequest(JSON.parse(printed)), OPTIONS)).toBe(printed);
      }),
      { numRuns: 60, seed: 6 },
    );
  });

  test("with malformed content is either printed or rejected", () => {
    fc.assert(
      fc.property(malformed, fc.constantFrom(...TRAITS), (sent, traits) => {
        try {
          const read = readChatRequest(JSON.parse(JSON.stringify(sent)));
          const path = findUntranslatable(read);
          if (path === undefined) JSON.parse(printRequest(read, { ...OPTIONS, traits }));
          else expect(path).toMatch(/^(messages|system|tools)/);
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error;
          expect(["wrong_shape", "untranslatable"]).toContain(error.kind);
        }
      }),
      { numRuns: 150, seed: 6 },
    );
  });
});
