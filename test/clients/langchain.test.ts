import { describe, expect, test } from "bun:test";
import { ChatAnthropic } from "@langchain/anthropic";
import { ChatOpenAI } from "@langchain/openai";
import { createCountingFetch, rejectionOf } from "../support/counting-fetch.ts";
import { type FailureCase, failingGateways } from "../support/failing-gateway.ts";

type Protocol = "openai" | "anthropic";
interface Connection {
  readonly url: string;
  readonly secret: string;
  readonly maxRetries: number;
  readonly fetch: typeof fetch;
}

const CLIENTS = [
  [
    "@langchain/openai",
    "openai",
    ({ url, secret, maxRetries, fetch: through }: Connection, model: string) =>
      new ChatOpenAI({
        model,
        apiKey: secret,
        maxRetries,
        configuration: { baseURL: `${url}/v1`, fetch: through },
      }),
  ],
  [
    "@langchain/anthropic",
    "anthropic",
    ({ url, secret, maxRetries, fetch: through }: Connection, model: string) =>
      new ChatAnthropic({
        model,
        apiKey: secret,
        maxRetries,
        maxTokens: 100,
        anthropicApiUrl: url,
        clientOptions: { fetch: through },
      }),
  ],
] as const;

const gatewayFor = failingGateways();

describe.each(CLIENTS)("LangChain with %s", (_name, protocol, create) => {
  const gatewayOf = () => gatewayFor(protocol);
  const chatOf = (model: string, more: Partial<Connection> = {}) => {
    const { gateway } = gatewayOf();
    return create({ url: gateway.url, secret: gateway.secret, maxRetries: 0, fetch, ...more }, model);
  };

  test("receives a whole answer with its usage", async () => {
    const answer = await chatOf("good").invoke("Say hello.");
    expect(answer.text).toBe("Hello there, friend.");
    expect(answer.usage_metadata).toMatchObject({ input_tokens: 11, output_tokens: 7, total_tokens: 18 });
  });

  test("receives a stream", async () => {
    const chunks = await Array.fromAsync(await chatOf("good").stream("Say hello."));
    expect(chunks.map(({ text }) => text).join("")).toBe("Hello there, friend.");
    expect(chunks.filter(({ usage_metadata }) => usage_metadata).length).toBeGreaterThan(0);
  });

  test("receives a tool call, whole and streamed", async () => {
    const schema = { type: "object", properties: {} };
    const tools = [{ type: "function", function: { name: "look_up", description: "", parameters: schema } }];
    const chat = chatOf("tool").bindTools(tools);
    const whole = await chat.invoke("Where?");
    const [first, ...rest] = await Array.fromAsync(await chat.stream("Where?"));
    const streamed = rest.reduce((sum, chunk) => sum?.concat(chunk), first);
    for (const answer of [whole, streamed]) {
      expect(answer?.tool_calls).toMatchObject([{ name: "look_up", args: { city: "Oslo" } }]);
    }
  });

  test("reads status and message of every error, whole and streamed", async () => {
    for (const failure of gatewayOf().failures) {
      const chat = chatOf(failure.model, failure);
      expectFailure(await rejectionOf(chat.invoke(failure.prompt)), failure, protocol);
      const streamed = chat.stream(failure.prompt).then((stream) => Array.fromAsync(stream));
      expectFailure(await rejectionOf(streamed), failure, protocol);
    }
  });

  test("retries 422, 429 after its wait and 5xx, and no other status", async () => {
    const tries = gatewayOf().failures.map(async ({ name, row, secret, model, prompt }) => {
      const counting = createCountingFetch();
      const chat = chatOf(model, { secret, maxRetries: 1, fetch: counting.fetch });
      await rejectionOf(chat.invoke(prompt));
      const status = row[protocol === "openai" ? "chat" : "messages"][0];
      const retries = status === 422 || status === 429 || status >= 500;
      expect([name, counting.posts]).toEqual([name, retries ? 2 : 1]);
    });
    await Promise.all(tries);
  });

  test("reads an error in the middle of a stream", async () => {
    const stream = await chatOf("breaks").stream("Say hello.");
    const error = await rejectionOf(Array.fromAsync(stream));
    expect(JSON.stringify(error)).toContain("upstream_unavailable");
  });
});

function expectFailure(error: unknown, { name, row }: FailureCase, protocol: Protocol): void {
  const [status] = row[protocol === "openai" ? "chat" : "messages"];
  expect([name, error]).toMatchObject([name, { status }]);
  if (!(error instanceof Error)) throw new Error(`${name}: not an Error`);
  if (name !== "422" && name !== "504") expect(error.message).toContain(row.message);
}
