import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ModelTraits } from "../../../src/domain/model.ts";
import { readChatRequest } from "../../../src/wire/anthropic-messages/ingress/read-request.ts";
import { printRequest } from "../../../src/wire/bedrock-converse/egress/print-request.ts";
import { readEvents, readReply } from "../../../src/wire/bedrock-converse/egress/read-answer.ts";
import { collectReply } from "../../../src/wire/translate.ts";
import { converseFrames } from "../../support/bedrock/answers.ts";
import { findConverseProblem } from "../../support/bedrock/body-rules.ts";

const words = fc.string({ maxLength: 12 });
const name = fc.stringMatching(/^[\w-]{1,12}$/);
const bytes = fc.base64String({ minLength: 4, maxLength: 16 });
const cache_control = fc.constantFrom(undefined, { type: "ephemeral" }, { type: "ephemeral", ttl: "1h" });
const text = fc.record({ type: fc.constant("text"), text: words, cache_control });
const image = fc.record({
  type: fc.constant("image"),
  source: fc.record({
    type: fc.constant("base64"),
    media_type: fc.constantFrom("image/png", "image/webp"),
    data: bytes,
  }),
  cache_control,
});
const document = fc.record({
  type: fc.constant("document"),
  title: fc.oneof(words, fc.constant("document"), fc.constant("document 2")),
  source: fc.oneof(
    fc.record({ type: fc.constant("base64"), media_type: fc.constant("application/pdf"), data: bytes }),
    fc.record({
      type: fc.constant("text"),
      media_type: fc.constant("text/plain"),
      data: fc.string({ minLength: 1 }),
    }),
  ),
});
const input = fc.dictionary(name, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 });
const calls = fc.uniqueArray(fc.record({ type: fc.constant("tool_use"), id: name, name, input }), {
  maxLength: 3,
  selector: ({ id }) => id,
});
const thinking = fc.record({
  type: fc.constant("thinking"),
  thinking: words,
  signature: fc.oneof(bytes, fc.constant("")),
});

/** An answer with calls, and the user's message with exactly their results. */
const exchange = fc
  .tuple(
    fc.array(fc.oneof(thinking, text)),
    calls,
    fc.array(fc.oneof(text, image, document)),
    fc.array(fc.oneof(text, image, document)),
  )
  .map(([said, called, media, more]) => [
    { role: "assistant", content: [...said, ...called] },
    {
      role: "user",
      content: [
        ...called.map(({ id }, index) => ({
          type: "tool_result",
          tool_use_id: id,
          content: media.slice(index, index + 1),
          is_error: index === 1,
        })),
        ...more,
      ],
    },
  ]);
/** A conversation of blank texts only is refused before. */
const START = { type: "text", text: "Go." };
const tool = fc.record({
  name,
  description: words,
  input_schema: fc.constant({ type: "object", properties: {} }),
  cache_control,
});
const requests = fc.record(
  {
    system: fc.array(text),
    messages: fc
      .tuple(
        fc.array(fc.oneof(text, image, document), { minLength: 1 }),
        fc.array(exchange, { maxLength: 3 }),
      )
      .map(([first, rest]) => [{ role: "user", content: [...first, START] }, ...rest.flat()]),
    tools: fc.uniqueArray(tool, { maxLength: 3, selector: (each) => each.name }),
    tool_choice: fc.constantFrom({ type: "auto" }, { type: "any" }, { type: "none" }),
    stop_sequences: fc.array(words),
    temperature: fc.double({ min: 0, max: 1, noNaN: true }),
    cache_control,
  },
  { requiredKeys: ["messages"] },
);

const TRAITS: readonly ModelTraits["reasoning"][] = ["none", "effort", "budget", "adaptive"];
const MODELS = [
  "us.anthropic.claude-opus-4-1-20250805-v1:0",
  "amazon.nova-lite-v1:0",
  "openai.gpt-oss-20b-1:0",
];

describe("Converse", () => {
  test("accepts the printed form of every well-formed request", () => {
    fc.assert(
      fc.property(
        requests,
        fc.constantFrom(...MODELS),
        fc.constantFrom(...TRAITS),
        (body, model, reasoning) => {
          const request = readChatRequest({
            model: "m",
            max_tokens: 4_000,
            ...body,
            tool_choice: body.tools?.length ? body.tool_choice : undefined,
          });
          const options = {
            model,
            outputTokensMax: 4_000,
            outputLimitField: undefined,
            stream: false,
            traits: { reasoning, sampling: true },
            origin: "u m",
          };
          expect(findConverseProblem(JSON.parse(printRequest(request, options)))).toBeUndefined();
        },
      ),
      { numRuns: 300 },
    );
  });

  test("has one meaning for an answer, whole or streamed", () => {
    const said = fc.string({ minLength: 1, maxLength: 12 });
    const reasoningText = fc.record(
      { text: said, signature: bytes },
      { requiredKeys: ["text", "signature"] },
    );
    const block = fc.oneof(
      fc.record({ text: said }),
      fc.record({ toolUse: fc.record({ toolUseId: name, name, input }) }),
      fc.record({ reasoningContent: fc.record({ reasoningText }) }),
      fc.record({ reasoningContent: fc.record({ redactedContent: bytes }) }),
    );
    const counts = fc.record({
      inputTokens: fc.nat(),
      outputTokens: fc.nat(),
      cacheReadInputTokens: fc.nat(),
    });
    fc.assert(
      fc.property(fc.array(block), counts, fc.boolean(), (content, usage, isReportedFirst) => {
        const source = { origin: "u m", isClaude: false };
        const whole = { output: { message: { role: "assistant", content } }, stopReason: "end_turn", usage };
        const reader = readEvents(source);
        const frames = [...converseFrames(content, "end_turn", usage)];
        if (isReportedFirst) frames.splice(-2, 2, ...frames.slice(-2).reverse());
        const streamed = frames.flatMap(reader.read);
        const expected = collectReply(readReply(JSON.stringify(whole), source));
        const { blocks, ...others } = collectReply(streamed);
        expect({ ...others, blocks: blocks.map(parseInput) }).toEqual({
          ...expected,
          blocks: expected.blocks.map(parseInput),
        });
        expect([reader.finished, reader.done]).toEqual([true, true]);
      }),
    );
  });
});

/** The input of a call as a value: a stream of `{}` is the same as no input. */
function parseInput(block: object): object {
  return "input" in block ? { ...block, input: JSON.parse(String(block.input) || "{}") } : block;
}
