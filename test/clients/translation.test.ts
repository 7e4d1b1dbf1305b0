import { describe, expect, test } from "bun:test";
import { generateText, jsonSchema, Output, streamText } from "ai";
import { APIError } from "openai";
import { ContentFilterFinishReasonError } from "openai/error";
import { rejectionOf } from "../support/counting-fetch.ts";
import { answerNeutrally } from "../support/format-pairs/format-pair.ts";
import { neutralAnswer } from "../support/format-pairs/neutral-answer.ts";
import { listAt, objectAt } from "../support/strict-json.ts";
import { CLAUDE, GPT, translatingGateway } from "./translating-gateway.ts";

const { upstream, openai, anthropic, compatible, claude, seen } = translatingGateway();

const schema = { type: "object" as const, properties: { city: { type: "string" } }, required: ["city"] };
const answers = neutralAnswer({ text: "It rains in both." });
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe("a translated request of a library", () => {
  test("contains images for Anthropic", async () => {
    await openai().chat.completions.create({
      model: CLAUDE,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is it?" },
            { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}`, detail: "low" } },
            { type: "image_url", image_url: { url: "https://example.com/a.jpg" } },
          ],
        },
      ],
    });
    expect(seen().messages).toMatchObject([
      {
        role: "user",
        content: [
          { type: "text", text: "What is it?" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
          { type: "image", source: { type: "url", url: "https://example.com/a.jpg" } },
        ],
      },
    ]);
  });

  test("contains images for OpenAI", async () => {
    await anthropic().messages.create({
      model: GPT,
      max_tokens: 100,
      messages: [
        {
          role: "user",
          content: [
            { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
            { type: "image", source: { type: "url", url: "https://example.com/a.jpg" } },
            { type: "text", text: "What is it?" },
          ],
        },
      ],
    });
    expect(seen().messages).toMatchObject([
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
          { type: "image_url", image_url: { url: "https://example.com/a.jpg" } },
          { type: "text", text: "What is it?" },
        ],
      },
    ]);
  });

  test("contains system prompts for Anthropic, even one in the middle", async () => {
    await generateText({
      model: compatible(),
      maxRetries: 0,
      allowSystemInMessages: true,
      messages: [
        { role: "system", content: "Be short." },
        { role: "user", content: "Hi." },
        { role: "assistant", content: "Hello." },
        { role: "system", content: "Be long." },
        { role: "user", content: "Go on." },
      ],
    });
    const { system, messages } = seen();
    expect(JSON.stringify(system)).toContain("Be short.");
    expect(JSON.stringify(system)).not.toContain("Be long.");
    expect(listAt(messages).map((each) => objectAt(each, "a message").role)).toEqual([
      "user",
      "assistant",
      "user",
    ]);
    expect(JSON.stringify(messages)).toMatch(/Hello\..*Be long\..*Go on\./);
  });

  test("contains a system prompt for OpenAI", async () => {
    await anthropic().messages.create({
      model: GPT,
      max_tokens: 100,
      system: [
        { type: "text", text: "Be short.", cache_control: { type: "ephemeral" } },
        { type: "text", text: "Be kind." },
      ],
      messages: [{ role: "user", content: "Hi." }],
    });
    expect(seen().messages).toEqual([
      { role: "system", content: "Be short.\n\nBe kind." },
      { role: "user", content: "Hi." },
    ]);
  });

  test("contains a schema for Anthropic, and the library parses the answer", async () => {
    const format = { type: "json_schema", json_schema: { name: "weather", strict: true, schema } } as const;
    upstream().on(CLAUDE, answerNeutrally(neutralAnswer({ text: '{"city":"Oslo"}' })));
    const request = {
      model: CLAUDE,
      response_format: format,
      messages: [{ role: "user" as const, content: "Where?" }],
    };
    const whole = await openai().chat.completions.parse(request);
    const streamed = await openai().chat.completions.stream(request).finalChatCompletion();
    for (const { choices } of [whole, streamed]) {
      expect(choices[0]).toMatchObject({ finish_reason: "stop", message: { content: '{"city":"Oslo"}' } });
      expect(choices[0]?.message.tool_calls ?? []).toEqual([]);
      expect(seen().output_config).toMatchObject({
        format: { type: "json_schema", schema: { properties: schema.properties, required: ["city"] } },
      });
    }
  });

  test("contains a schema for OpenAI, and the library parses the answer", async () => {
    upstream().on(GPT, answerNeutrally(neutralAnswer({ text: '{"city":"Oslo"}' })));
    const output = Output.object({ schema: jsonSchema<{ city: string }>(schema) });
    const answer = await generateText({
      model: claude(),
      prompt: "Where?",
      output,
      maxRetries: 0,
      providerOptions: { anthropic: { structuredOutputMode: "outputFormat" } },
    });
    expect(answer.output).toEqual({ city: "Oslo" });
    expect(seen().response_format).toMatchObject({
      type: "json_schema",
      json_schema: { schema: { properties: { city: { type: "string" } } } },
    });
  });
});

describe("a translated answer that ends unusually", () => {
  const refusal = "I cannot help with that.";

  test("case 42: is a filtered answer for a refusal of Anthropic, and the SDK's parse throws", async () => {
    upstream().on(CLAUDE, answerNeutrally(neutralAnswer({ text: "", refusal, finish: "content_filter" })));
    const request = { model: CLAUDE, messages: [{ role: "user" as const, content: "Do it." }] };
    const whole = await openai().chat.completions.create(request);
    const streamed = await openai().chat.completions.stream(request).finalChatCompletion();
    for (const { choices } of [whole, streamed])
      expect(choices[0]).toMatchObject({ finish_reason: "content_filter", message: { refusal } });
    expect(await rejectionOf(openai().chat.completions.parse(request))).toBeInstanceOf(
      ContentFilterFinishReasonError,
    );
  });

  test.each(["stop", "content_filter"] as const)(
    "is a refusal for Anthropic's SDK when OpenAI's refusal finishes with %s",
    async (finish) => {
      upstream().on(GPT, answerNeutrally(neutralAnswer({ text: "", refusal, finish })));
      const request = {
        model: GPT,
        max_tokens: 100,
        messages: [{ role: "user" as const, content: "Do it." }],
      };
      const whole = await anthropic().messages.create(request);
      const streamed = await anthropic().messages.stream(request).finalMessage();
      for (const message of [whole, streamed])
        expect(message).toMatchObject({ stop_reason: "refusal", content: [{ type: "text", text: refusal }] });
    },
  );

  test("is an error with its code for OpenAI's SDK when the stream breaks", async () => {
    upstream().on(CLAUDE, answerNeutrally(answers, { cutAt: 700, end: "close", lingerMs: 1_000 }));
    const request = {
      model: CLAUDE,
      stream: true as const,
      messages: [{ role: "user" as const, content: "Hi." }],
    };
    const raw = await openai().chat.completions.create(request);
    expect(await rejectionOf(Array.fromAsync(raw))).toMatchObject({
      code: "upstream_unavailable",
      type: "server_error",
    });
    const helper = openai().chat.completions.stream(request).finalChatCompletion();
    expect(await rejectionOf(helper)).toBeInstanceOf(APIError);
  });

  test("is an error with its code for Anthropic's SDK when the stream breaks", async () => {
    upstream().on(GPT, answerNeutrally(answers, { cutAt: 700, end: "close", lingerMs: 1_000 }));
    const request = { model: GPT, max_tokens: 100, messages: [{ role: "user" as const, content: "Hi." }] };
    const helper = anthropic().messages.stream(request).finalMessage();
    expect(await rejectionOf(helper)).toMatchObject({ type: "api_error", errorCode: "upstream_unavailable" });
  });

  test.each([
    ["@ai-sdk/openai-compatible", CLAUDE, compatible],
    ["@ai-sdk/anthropic", GPT, claude],
  ] as const)(
    "is an error without a finish for the AI SDK with %s when the stream breaks",
    async (_name, model, modelOf) => {
      upstream().on(model, answerNeutrally(answers, { cutAt: 700, end: "close", lingerMs: 1_000 }));
      const errors: unknown[] = [];
      const result = streamText({
        model: modelOf(),
        prompt: "Hi.",
        maxRetries: 0,
        onError: ({ error }) => void errors.push(error),
      });
      const types = (await Array.fromAsync(result.fullStream)).map(({ type }) => type);
      expect(types).toContain("text-delta");
      expect(errors).toHaveLength(1);
      expect(await result.finishReason).not.toBe("stop");
    },
  );
});
