import { describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, generateText, jsonSchema, RetryError, stepCountIs, streamText, tool } from "ai";
import OpenAI, { APIError } from "openai";
import { toResponseInputItems } from "openai/lib/responses/ResponseInputItems";
import type { ResponseInput } from "openai/resources/responses/responses";
import { ERRORS } from "../../src/errors.ts";
import { createCountingFetch, rejectionOf } from "../support/counting-fetch.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { HELLO, type ModelOutput } from "../support/model-output.ts";
import { answerWith } from "../support/scripted-answers.ts";
import {
  scriptedModel,
  scriptedRoute,
  scriptedUpstream,
  scriptedUpstreams,
} from "../support/test-catalog.ts";

const native = scriptedModel("native", "openai", { routes: [scriptedRoute("native", "native")] });
const gateway = gatewayForTests({
  models: [scriptedModel("chat", "openai"), scriptedModel("claude", "anthropic"), native],
  upstreams: (scripted) => [
    ...scriptedUpstreams(scripted),
    scriptedUpstream("native", "openai", { baseUrl: scripted.openaiUrl, hasResponses: true }),
  ],
});

const USAGE = { input: 11, output: 7 };
const TOOL: ModelOutput = { tool: { name: "look_up", arguments: '{"city":"Oslo"}' }, usage: USAGE };
const TEXT = "Hello there, friend.";

describe.each(["chat", "claude", "native"])("the OpenAI SDK's responses of model %s", (model) => {
  const clientOf = (secret = gateway.secret, more: { maxRetries?: number; fetch?: typeof fetch } = {}) =>
    new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: secret, maxRetries: 0, ...more });
  const tools = [
    {
      type: "function" as const,
      name: "look_up",
      strict: false,
      parameters: { type: "object", properties: {} },
    },
  ];

  test("contain a whole answer with its request id", async () => {
    const answer = await clientOf().responses.create({ model, input: "Say hello." });
    expect(answer).toMatchObject({
      model,
      output_text: TEXT,
      usage: { input_tokens: 11, output_tokens: 7 },
    });
    expect((await gateway.receiptOf(answer._request_id ?? "")).captured).toBe(25_000n);
  });

  test("contain the text of the deltas when the strict helper collects a stream", async () => {
    const stream = clientOf().responses.stream({ model, input: "Say hello." });
    const deltas: string[] = [];
    stream.on("response.output_text.delta", ({ delta }) => void deltas.push(delta));
    const answer = await stream.finalResponse();
    expect(answer).toMatchObject({ status: "completed", output_text: TEXT, model });
    expect(deltas.join("")).toBe(TEXT);
  });

  test("work in a tool loop of the client", async () => {
    gateway.upstream.on(model, answerWith({ ...TOOL, text: "I look.", reasoning: "Hm." }), answerWith());
    const input: ResponseInput = [{ role: "user", content: "How is Oslo?" }];
    const first = await clientOf().responses.stream({ model, input, tools }).finalResponse();
    const [call] = first.output.filter((item) => item.type === "function_call");
    expect(call).toMatchObject({ name: "look_up", arguments: '{"city":"Oslo"}' });
    input.push(...toResponseInputItems(first.output), {
      type: "function_call_output",
      call_id: call?.call_id ?? "",
      output: "Rain.",
    });
    const second = await clientOf().responses.create({ model, input, tools });
    expect(second.output_text).toBe(TEXT);
    expect(gateway.upstream.seen.at(-1)?.bodyText).toContain("Rain.");
  });

  test("contain an answer in the requested format, which the SDK parses", async () => {
    gateway.upstream.on(model, answerWith({ text: '{"city":"Oslo"}', usage: USAGE }));
    const schema = { type: "object", properties: { city: { type: "string" } } };
    const format = { type: "json_schema" as const, name: "place", schema };
    const answer = await clientOf().responses.parse({ model, input: "Where?", text: { format } });
    expect(JSON.parse(answer.output_text)).toEqual({ city: "Oslo" });
  });

  test("report an error with status, type and code, without a retry", async () => {
    const counting = createCountingFetch();
    const client = clientOf(undefined, { maxRetries: 2, fetch: counting.fetch });
    const error = await rejectionOf(
      client.responses.create({ model, input: "hi", previous_response_id: "resp_1" }),
    );
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ status: 400, type: "invalid_request_error", code: "invalid_request" });
    expect(counting.posts).toBe(1);
  });

  test("report an empty wallet as a failed response, without a retry", async () => {
    const { secret } = await gateway.newPayer("0");
    const counting = createCountingFetch();
    const client = clientOf(secret, { maxRetries: 2, fetch: counting.fetch });
    const answer = await client.responses.stream({ model, input: "hi" }).finalResponse();
    expect(answer).toMatchObject({ model, status: "failed", error: { code: "insufficient_quota" } });
    expect(counting.posts).toBe(1);
  });

  test("report a broken stream as a failed response", async () => {
    gateway.upstream.on(
      model,
      answerWith(HELLO, { cutAt: model === "native" ? 2_500 : 800, end: "close", lingerMs: 1_000 }),
    );
    const events = await Array.fromAsync(
      await clientOf().responses.create({ model, input: "hi", stream: true }),
    );
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      sequence_number: events.length - 1,
      response: { model, error: { code: "upstream_unavailable" } },
    });
  });
});

describe.each(["chat", "claude", "native"])("the AI SDK's responses with model %s", (model) => {
  const modelOf = (secret = gateway.secret, through: typeof fetch = fetch) =>
    createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: secret, fetch: through })(model);
  const look_up = tool({
    description: "Looks up.",
    inputSchema: jsonSchema<{ city: string }>({ type: "object", properties: {} }),
    execute: () => "Rain.",
  });
  const call = (secret?: string) => ({ model: modelOf(secret), prompt: "How is Oslo?", maxRetries: 0 });
  /** Without this option the SDK refers to earlier items by id, which are not stored. */
  const stateless = { providerOptions: { openai: { store: false } } };

  test("receives a whole answer with its usage", async () => {
    const { text, usage, finishReason } = await generateText(call());
    expect({ text, finishReason }).toEqual({ text: TEXT, finishReason: "stop" });
    expect(usage).toMatchObject({ inputTokens: 11, outputTokens: 7 });
  });

  test("receives a stream with its usage", async () => {
    const result = streamText(call());
    expect((await Array.fromAsync(result.textStream)).join("")).toBe(TEXT);
    expect(await result.usage).toMatchObject({ inputTokens: 11, outputTokens: 7 });
    expect(await result.finishReason).toBe("stop");
  });

  test("runs a tool and continues with its result", async () => {
    gateway.upstream.on(model, answerWith({ ...TOOL, text: "I look." }), answerWith());
    const options = { ...call(), ...stateless, tools: { look_up }, stopWhen: stepCountIs(2) };
    const { text, steps } = await generateText(options);
    expect(steps[0]?.toolCalls).toMatchObject([{ toolName: "look_up", input: { city: "Oslo" } }]);
    expect(text).toBe(TEXT);
    expect(gateway.upstream.seen.at(-1)?.bodyText).toContain("Rain.");
  });

  test("reads in the error which option to set when it refers to stored items by id", async () => {
    gateway.upstream.on(model, answerWith({ ...TOOL, text: "I look." }), answerWith());
    const options = { ...call(), tools: { look_up }, stopWhen: stepCountIs(2) };
    const error = await rejectionOf(generateText(options));
    if (!APICallError.isInstance(error)) throw error;
    expect(error.statusCode).toBe(400);
    expect(error.message).toStartWith(ERRORS.nothing_stored.message.slice(0, -1));
    expect(error.message).toContain("store: false");
  });

  test("receives a streamed tool call", async () => {
    gateway.upstream.on(model, answerWith(TOOL));
    const result = streamText({ ...call(), tools: { look_up } });
    expect(await result.toolCalls).toMatchObject([{ toolName: "look_up", input: { city: "Oslo" } }]);
    expect(await result.finishReason).toBe("tool-calls");
  });

  test("reads an empty wallet as an error, whole and streamed", async () => {
    const { secret } = await gateway.newPayer("0");
    const error = await rejectionOf(generateText(call(secret)));
    expect(APICallError.isInstance(error) && error.statusCode).toBe(402);
    const errors: unknown[] = [];
    await streamText({
      ...call(secret),
      onError: ({ error: thrown }) => void errors.push(thrown),
    }).consumeStream();
    expect(errors).toHaveLength(1);
    expect(String(RetryError.isInstance(errors[0]) ? errors[0].lastError : errors[0])).toContain(
      "wallet balance",
    );
  });

  test("reads an error in the middle of a stream and no finish", async () => {
    gateway.upstream.on(
      model,
      answerWith(HELLO, { cutAt: model === "native" ? 2_500 : 800, end: "close", lingerMs: 1_000 }),
    );
    const errors: unknown[] = [];
    const result = streamText({ ...call(), onError: ({ error }) => void errors.push(error) });
    const types = (await Array.fromAsync(result.fullStream)).map(({ type }) => type);
    expect(types).toContain("text-delta");
    expect(await result.finishReason).not.toBe("stop");
  });
});
