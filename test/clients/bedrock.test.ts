import { describe, expect, test } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { CLAUDE, NOVA, startBedrockFixture } from "../http/conformance/bedrock-fixture.ts";
import { claude, converse, USAGE } from "../support/bedrock/answers.ts";

const fixture = startBedrockFixture();
const ALL_INPUT = USAGE.input + USAGE.read + USAGE.written;
const settings = () => ({
  baseURL: `${fixture.gateway().url}/v1`,
  apiKey: fixture.gateway().secret,
  maxRetries: 0,
});
const MODELS = ["claude", "nova"];

/** Lets Claude and Nova answer the same, by InvokeModel and by Converse. */
function answer(text: string): void {
  fixture.bedrock().on(CLAUDE, claude([{ type: "text", text }]));
  fixture.bedrock().on(NOVA, converse([{ text }], "end_turn"));
}

/** Lets both call a tool, and then answer. */
function callThenAnswer(text: string): void {
  const call = { name: "look_up", input: { city: "Oslo" } };
  fixture
    .bedrock()
    .on(
      CLAUDE,
      claude([{ type: "tool_use", id: "toolu_1", ...call }], "tool_use"),
      claude([{ type: "text", text }]),
    );
  fixture
    .bedrock()
    .on(
      NOVA,
      converse([{ toolUse: { toolUseId: "tooluse_1", ...call } }], "tool_use"),
      converse([{ text }], "end_turn"),
    );
}

const tools = {
  look_up: tool({
    description: "Looks up the weather.",
    inputSchema: jsonSchema<{ city: string }>({ type: "object", properties: { city: { type: "string" } } }),
    execute: async ({ city }) => `Rain in ${city}.`,
  }),
};

describe.each(MODELS)("Bedrock's model %s", (model) => {
  test("answers the OpenAI SDK on chat and responses, whole and streamed", async () => {
    answer("Hello from AWS.");
    const client = new OpenAI(settings());
    const messages = [{ role: "user" as const, content: "Hi" }];
    const whole = await client.chat.completions.create({ model, messages });
    expect(whole.choices[0]).toMatchObject({
      message: { content: "Hello from AWS." },
      finish_reason: "stop",
    });
    expect(whole.usage).toMatchObject({ prompt_tokens: ALL_INPUT, completion_tokens: USAGE.output });
    const stream = client.chat.completions.stream({
      model,
      messages,
      stream_options: { include_usage: true },
    });
    expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe("Hello from AWS.");
    expect((await client.responses.create({ model, input: "Hi" })).output_text).toBe("Hello from AWS.");
    expect((await client.responses.stream({ model, input: "Hi" }).finalResponse()).output_text).toBe(
      "Hello from AWS.",
    );
  });

  test("answers the Anthropic SDK, whole and streamed", async () => {
    answer("Hello from AWS.");
    const client = new Anthropic({ ...settings(), baseURL: fixture.gateway().url });
    const request = { model, max_tokens: 99, messages: [{ role: "user" as const, content: "Hi" }] };
    const counts = {
      input_tokens: USAGE.input,
      cache_read_input_tokens: USAGE.read,
      output_tokens: USAGE.output,
    };
    const whole = await client.messages.create(request);
    const streamed = await client.messages.stream(request).finalMessage();
    for (const message of [whole, streamed]) {
      expect(message).toMatchObject({
        model,
        content: [{ text: "Hello from AWS." }],
        stop_reason: "end_turn",
        usage: counts,
      });
    }
  });

  test("counts tokens for the Anthropic SDK", async () => {
    const client = new Anthropic({ ...settings(), baseURL: fixture.gateway().url });
    const counted = await client.messages.countTokens({
      model,
      messages: [{ role: "user", content: "Hi there" }],
    });
    expect(counted.input_tokens).toBeGreaterThan(0);
    expect(fixture.bedrock().complaints).toEqual([]);
  });

  test("runs the tool loop of the AI SDK, on chat and on messages", async () => {
    for (const create of [createOpenAI(settings()).chat, createAnthropic(settings())]) {
      callThenAnswer("It rains.");
      const { text, steps } = await generateText({
        model: create(model),
        prompt: "Weather?",
        tools,
        stopWhen: stepCountIs(3),
        maxRetries: 0,
      });
      expect([text, steps.length]).toEqual(["It rains.", 2]);
      callThenAnswer("It rains.");
      const streamed = streamText({
        model: create(model),
        prompt: "Weather?",
        tools,
        stopWhen: stepCountIs(3),
        maxRetries: 0,
      });
      expect(await streamed.text).toBe("It rains.");
      expect(JSON.stringify(fixture.sent().messages)).toContain("Rain in Oslo.");
    }
  });
});
