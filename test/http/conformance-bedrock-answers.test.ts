import { describe, expect, test } from "bun:test";
import { claude, converse, converseText, USAGE } from "../support/bedrock/answers.ts";
import { CHAT, dataOf, MESSAGES, objectOf, post, RESPONSES } from "../support/client.ts";
import { type FormatPair, postTo, readReply } from "../support/format-pairs/format-pair.ts";
import { nanosOf } from "../support/format-pairs/neutral-answer.ts";
import { framesOf, type Json } from "../support/strict-json.ts";
import {
  CHAT_TO_CLAUDE,
  CHAT_TO_NOVA,
  CLAUDE,
  GPT_OSS,
  MESSAGES_TO_CLAUDE,
  MESSAGES_TO_NOVA,
  NOVA,
  startBedrockFixture,
} from "./conformance/bedrock-fixture.ts";

const fixture = startBedrockFixture();
const COUNTS = { input: USAGE.input, cached: USAGE.read, written: USAGE.written, output: USAGE.output };
const CALL = { id: "toolu_1", name: "get_weather", input: { city: 'O"slo', days: 2 } };
const TOOLS = {
  chat: [{ type: "function", function: { name: "get_weather", parameters: { type: "object" } } }],
  messages: [{ name: "get_weather", input_schema: { type: "object" } }],
};

/** Expects the charge for {@link COUNTS}, by the receipt of a response. */
async function expectCharge(response: Response): Promise<void> {
  expect((await fixture.gateway().receiptOf(response)).captured).toBe(nanosOf(COUNTS));
}

const BOTH = [false, true];
const EVERY_WAY = [CHAT_TO_CLAUDE, MESSAGES_TO_CLAUDE, CHAT_TO_NOVA, MESSAGES_TO_NOVA].flatMap((pair) =>
  BOTH.map((stream) => ({ pair, stream, surface: pair.surface.name, model: pair.model })),
);

function script(
  { model }: FormatPair,
  blocks: { claude: readonly Json[]; nova: readonly Json[] },
  calls = false,
) {
  const { bedrock } = fixture;
  bedrock().on(CLAUDE, claude(blocks.claude, calls ? "tool_use" : "end_turn"));
  bedrock().on(NOVA, converse(blocks.nova, calls ? "tool_use" : "end_turn"));
  return model;
}

describe("an answer of Bedrock", () => {
  test.each(EVERY_WAY)(
    "case 131: is a text for $surface from $model, charged with cached tokens, stream $stream",
    async ({ pair, stream }) => {
      script(pair, { claude: [{ type: "text", text: "Hello, world." }], nova: [{ text: "Hello, world." }] });
      const response = await postTo(fixture.gateway(), pair, { stream });
      const charged = response.clone();
      expect(await readReply(response, pair)).toMatchObject({
        text: "Hello, world.",
        finish: "stop",
        calls: [],
      });
      await expectCharge(charged);
    },
  );

  test.each(EVERY_WAY)(
    "case 132: is a tool call for $surface from $model, stream $stream",
    async ({ pair, stream }) => {
      const { id, name, input } = CALL;
      script(
        pair,
        {
          claude: [{ type: "tool_use", id, name, input }],
          nova: [{ toolUse: { toolUseId: id, name, input } }],
        },
        true,
      );
      const tools = TOOLS[pair.surface.name];
      const reply = await readReply(await postTo(fixture.gateway(), pair, { stream, tools }), pair);
      expect(reply).toMatchObject({ text: "", calls: [CALL], finish: "tool_calls" });
    },
  );

  test.each(EVERY_WAY)(
    "case 133: has its reasoning before its text for $surface from $model, stream $stream",
    async ({ pair, stream }) => {
      const text = "It is 2.";
      const thought = { text: "1 + 1", signature: "c2lnbmVk" };
      script(pair, {
        claude: [
          { type: "thinking", thinking: thought.text, signature: thought.signature },
          { type: "text", text },
        ],
        nova: [{ reasoningContent: { reasoningText: thought } }, { text }],
      });
      const reasoning =
        pair.surface.name === "chat"
          ? { reasoning_effort: "low" }
          : { thinking: { type: "enabled", budget_tokens: 1_024 } };
      const reply = await readReply(await postTo(fixture.gateway(), pair, { stream, ...reasoning }), pair);
      expect(reply).toMatchObject({ reasoning: "1 + 1", text });
    },
  );

  test.each([
    { model: "claude", stream: false },
    { model: "claude", stream: true },
    { model: "gpt-oss", stream: false },
    { model: "gpt-oss", stream: true },
  ])("case 134: reaches a client of responses from $model, stream $stream", async ({ model, stream }) => {
    fixture.bedrock().on(CLAUDE, claude([{ type: "text", text: "Hello." }]));
    fixture.bedrock().on(GPT_OSS, converseText("Hello."));
    const response = await post(fixture.gateway(), RESPONSES, { model, stream });
    const charged = response.clone();
    const last = stream ? (await dataOf(response)).at(-1)?.response : await objectOf(response);
    expect(last).toMatchObject({
      status: "completed",
      output: [{ content: [{ type: "output_text", text: "Hello." }] }],
    });
    await expectCharge(charged);
  });

  test("case 135: of InvokeModel keeps its events, and loses Bedrock's metrics", async () => {
    fixture.bedrock().on(CLAUDE, claude([{ type: "text", text: "Hello." }]));
    const text = await (
      await post(fixture.gateway(), MESSAGES, { model: "claude", stream: true, max_tokens: 99 })
    ).text();
    expect(framesOf(text).map(({ event }) => event)).toEqual([
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    expect(text).not.toMatch(/amazon|invocationLatency/);
    expect(framesOf(text).at(-1)?.json).toEqual({ type: "message_stop" });
  });

  test("case 136: of Converse loses its latency, whole and streamed", async () => {
    fixture.bedrock().on(NOVA, converseText("Hello."));
    for (const stream of BOTH) {
      const response = await post(fixture.gateway(), CHAT, { model: "nova", stream });
      expect(await response.text()).not.toMatch(/latency|551/);
    }
  });

  test.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["content_filtered", "content_filter"],
    ["guardrail_intervened", "content_filter"],
    ["a_new_reason", "stop"],
  ])("case 137: of Converse that stops with %s finishes with %s", async (stopReason, finish) => {
    fixture.bedrock().on(NOVA, converse([{ text: "Some" }], stopReason));
    for (const stream of BOTH) {
      const reply = await readReply(await postTo(fixture.gateway(), CHAT_TO_NOVA, { stream }), CHAT_TO_NOVA);
      expect<string>(reply.finish).toBe(finish);
    }
  });

  test("case 138: of Converse that was written to the one-hour cache is charged for it", async () => {
    const usage = {
      inputTokens: 10,
      outputTokens: 5,
      totalTokens: 115,
      cacheWriteInputTokens: 100,
      cacheDetails: [
        { ttl: "1h", inputTokens: 60 },
        { ttl: "5m", inputTokens: 40 },
      ],
    };
    fixture.bedrock().on(NOVA, converse([{ text: "Hi" }], "end_turn", usage));
    const response = await postTo(fixture.gateway(), MESSAGES_TO_NOVA);
    expect((await objectOf(response)).usage).toMatchObject({
      input_tokens: 10,
      output_tokens: 5,
      cache_creation: { ephemeral_1h_input_tokens: 60, ephemeral_5m_input_tokens: 40 },
    });
    expect((await fixture.gateway().receiptOf(response)).captured).toBe(
      1_000n * 10n + 1_250n * 40n + 2_000n * 60n + 2_000n * 5n,
    );
  });

  test("case 139: keeps the digits of a long number in the input of a call", async () => {
    const body = `{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"t","name":"get_weather","input":{"id":12345678901234567890}}}]}},"stopReason":"tool_use","usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2}}`;
    fixture.bedrock().on(NOVA, () => ({ body }));
    const response = await post(fixture.gateway(), CHAT, { model: "nova", tools: TOOLS.chat });
    expect(await response.text()).toContain("12345678901234567890");
  });
});
