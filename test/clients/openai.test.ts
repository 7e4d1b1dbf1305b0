import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI, { APIError } from "openai";
import { createCountingFetch, rejectionOf } from "../support/counting-fetch.ts";
import { type FailingGateway, type FailureCase, startFailingGateway } from "../support/failing-gateway.ts";

let failing: FailingGateway;
beforeAll(async () => {
  failing = await startFailingGateway("openai");
});
afterAll(() => failing.gateway.stop());

function clientOf(secret = failing.gateway.secret, more: { maxRetries?: number; fetch?: typeof fetch } = {}) {
  return new OpenAI({ baseURL: `${failing.gateway.url}/v1`, apiKey: secret, maxRetries: 0, ...more });
}

const request = (model: string, prompt = "Say hello.") => ({
  model,
  messages: [{ role: "user" as const, content: prompt }],
});
const tools = [
  {
    type: "function" as const,
    function: { name: "look_up", parameters: { type: "object", properties: {} } },
  },
];

describe("the OpenAI SDK", () => {
  test("receives a whole answer with its request id", async () => {
    const answer = await clientOf().chat.completions.create(request("good"));
    expect(answer.choices[0]?.message.content).toBe("Hello there, friend.");
    expect(answer).toMatchObject({ model: "good", usage: { prompt_tokens: 11, completion_tokens: 7 } });
    const receipt = await failing.gateway.receiptOf(answer._request_id ?? "");
    expect(receipt.captured).toBe(25_000n);
  });

  test("receives a stream, with and without usage", async () => {
    for (const include_usage of [true, false]) {
      const options = { ...request("good"), stream: true as const, stream_options: { include_usage } };
      const chunks = await Array.fromAsync(await clientOf().chat.completions.create(options));
      const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
      expect(text).toBe("Hello there, friend.");
      expect(chunks.filter(({ usage }) => usage)).toHaveLength(include_usage ? 1 : 0);
    }
  });

  test("collects a stream with its strict helper", async () => {
    const stream = clientOf().chat.completions.stream(request("good"));
    expect((await stream.finalChatCompletion()).choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { content: "Hello there, friend." },
    });
  });

  test("receives a tool call, whole and streamed", async () => {
    const whole = await clientOf().chat.completions.create({ ...request("tool"), tools });
    const streamed = await clientOf()
      .chat.completions.stream({ ...request("tool"), tools })
      .finalChatCompletion();
    for (const { choices } of [whole, streamed]) {
      expect(choices[0]).toMatchObject({
        finish_reason: "tool_calls",
        message: {
          tool_calls: [{ id: "call_1", function: { name: "look_up", arguments: '{"city":"Oslo"}' } }],
        },
      });
    }
  });

  test("case 11: reads status, type, code, message and request id of every error", async () => {
    for (const failure of failing.failures) {
      for (const stream of [false, true]) {
        const { create } = clientOf(failure.secret).chat.completions;
        const completions = clientOf(failure.secret).chat.completions;
        const error = await rejectionOf(
          create.call(completions, { ...request(failure.model, failure.prompt), stream }),
        );
        expectFailure(error, failure, stream);
      }
    }
  });

  test("retries exactly the errors that a retry can resolve", async () => {
    const tries = failing.failures.map(async ({ name, row, secret, model, prompt }) => {
      const counting = createCountingFetch();
      const client = clientOf(secret, { maxRetries: 1, fetch: counting.fetch });
      await rejectionOf(client.chat.completions.create(request(model, prompt)));
      expect([name, counting.posts]).toEqual([name, row.retry ? 2 : 1]);
    });
    await Promise.all(tries);
  });

  test("reads an error in the middle of a stream, with its code", async () => {
    const stream = await clientOf().chat.completions.create({ ...request("breaks"), stream: true });
    const error = await rejectionOf(Array.fromAsync(stream));
    expect(error).toMatchObject({ code: "upstream_unavailable", type: "server_error" });
  });

  test("receives 501 for files and does not retry", async () => {
    const counting = createCountingFetch();
    const client = clientOf(undefined, { maxRetries: 2, fetch: counting.fetch });
    const error = await rejectionOf(client.files.list());
    expect(error).toMatchObject({ status: 501, code: "not_implemented" });
    expect(counting.posts).toBe(1);
  });
});

function expectFailure(error: unknown, { name, row }: FailureCase, stream: boolean): void {
  // A silent stream ends at its first-output timeout, and a whole answer at its total timeout.
  const [status, type] = row.chat;
  expect(error).toBeInstanceOf(APIError);
  expect([name, stream, error]).toMatchObject([name, stream, { status, type, code: row.code }]);
  if (!(error instanceof APIError)) return;
  if (name !== "422" && name !== "504") expect(error.message).toBe(`${status} ${row.message}`);
  expect(error.requestID).toMatch(/^[0-9a-f-]{36}$/);
}
