import { describe, expect, test } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  APICallError,
  generateText,
  jsonSchema,
  type LanguageModel,
  RetryError,
  streamText,
  type ToolSet,
} from "ai";
import { createCountingFetch, rejectionOf } from "../support/counting-fetch.ts";
import { type FailureCase, failingGateways } from "../support/failing-gateway.ts";

type Protocol = "openai" | "anthropic";
interface Connection {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly fetch: typeof fetch;
}

const PROVIDERS = [
  ["@ai-sdk/openai", "openai", (to: Connection, model: string) => createOpenAI(to).chat(model)],
  [
    "@ai-sdk/openai-compatible",
    "openai",
    (to: Connection, model: string) =>
      createOpenAICompatible({ ...to, name: "tollgate", includeUsage: true }).chatModel(model),
  ],
  ["@ai-sdk/anthropic", "anthropic", (to: Connection, model: string) => createAnthropic(to)(model)],
] as const;

const gatewayFor = failingGateways();

describe.each(PROVIDERS)("the AI SDK with %s", (_name, protocol, create) => {
  const gatewayOf = () => gatewayFor(protocol);
  const modelOf = (
    model: string,
    { secret, fetch: through = fetch }: { secret?: string; fetch?: typeof fetch } = {},
  ) => {
    const { gateway } = gatewayOf();
    const to = { baseURL: `${gateway.url}/v1`, apiKey: secret ?? gateway.secret, fetch: through };
    return create(to, model);
  };
  const call = (model: LanguageModel, prompt = "Say hello.") => ({ model, prompt, maxRetries: 0 });
  const inputSchema = jsonSchema<{ city: string }>({ type: "object", properties: {} });
  const tools: ToolSet = { look_up: { description: "", inputSchema } };

  test("receives a whole answer with its usage", async () => {
    const { text, usage, finishReason } = await generateText(call(modelOf("good")));
    expect(text).toBe("Hello there, friend.");
    expect(usage).toMatchObject({ inputTokens: 11, outputTokens: 7 });
    expect(finishReason).toBe("stop");
  });

  test("receives a stream with its usage", async () => {
    const result = streamText(call(modelOf("good")));
    expect((await Array.fromAsync(result.textStream)).join("")).toBe("Hello there, friend.");
    expect(await result.usage).toMatchObject({ inputTokens: 11, outputTokens: 7 });
    expect(await result.finishReason).toBe("stop");
  });

  test("receives a tool call, whole and streamed", async () => {
    const whole = await generateText({ ...call(modelOf("tool")), tools });
    const streamed = streamText({ ...call(modelOf("tool")), tools });
    for (const calls of [whole.toolCalls, await streamed.toolCalls]) {
      expect(calls).toMatchObject([{ toolName: "look_up", input: { city: "Oslo" } }]);
    }
    expect(await streamed.finishReason).toBe("tool-calls");
  });

  test("case 13: reads status, message and code of every error of a whole answer", async () => {
    for (const failure of gatewayOf().failures) {
      const error = await rejectionOf(generateText(call(modelOf(failure.model, failure), failure.prompt)));
      expectFailure(error, failure, protocol);
    }
  });

  test("reads status, message and code of every error of a stream", async () => {
    for (const failure of gatewayOf().failures) {
      const errors = await errorsOf(call(modelOf(failure.model, failure), failure.prompt));
      expect(errors).toHaveLength(1);
      expectFailure(errors[0], failure, protocol);
    }
  });

  test("retries 429 and 5xx and no other status", async () => {
    const { failures } = gatewayOf();
    const tries = failures.map(async ({ name, row, secret, model, prompt }) => {
      const counting = createCountingFetch();
      const error = await rejectionOf(
        generateText({ ...call(modelOf(model, { secret, fetch: counting.fetch }), prompt), maxRetries: 1 }),
      );
      const status = row[protocol === "openai" ? "chat" : "messages"][0];
      const retries = status === 429 || status >= 500;
      expect([name, counting.posts]).toEqual([name, retries ? 2 : 1]);
      expect([name, RetryError.isInstance(error)]).toEqual([name, retries]);
    });
    await Promise.all(tries);
  });

  test("reads an error in the middle of a stream and no finish", async () => {
    const parts: string[] = [];
    const result = streamText({
      ...call(modelOf("breaks")),
      onError: ({ error }) => void parts.push(String(error)),
    });
    const types = (await Array.fromAsync(result.fullStream)).map(({ type }) => type);
    expect(types).toContain("error");
    expect(types).toContain("text-delta");
    expect(parts).toHaveLength(1);
    expect(await result.finishReason).not.toBe("stop");
  });
});

async function errorsOf(call: Parameters<typeof streamText>[0]): Promise<unknown[]> {
  const errors: unknown[] = [];
  const result = streamText({ ...call, onError: ({ error }) => void errors.push(error) });
  await result.consumeStream();
  return errors;
}

function expectFailure(error: unknown, { name, row }: FailureCase, protocol: Protocol): void {
  const [status] = row[protocol === "openai" ? "chat" : "messages"];
  if (!APICallError.isInstance(error)) throw new Error(`${name}: not an APICallError`, { cause: error });
  expect([name, error.statusCode]).toEqual([name, status]);
  expect(error.responseBody).toContain(`"${row.code}"`);
  if (name !== "422" && name !== "504") expect(error.message).toBe(row.message);
}
