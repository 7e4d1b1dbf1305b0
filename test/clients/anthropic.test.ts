import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic, { APIError } from "@anthropic-ai/sdk";
import { createCountingFetch, rejectionOf } from "../support/counting-fetch.ts";
import { type FailingGateway, type FailureCase, startFailingGateway } from "../support/failing-gateway.ts";

let failing: FailingGateway;
beforeAll(async () => {
  failing = await startFailingGateway("anthropic");
});
afterAll(() => failing.gateway.stop());

function clientOf(secret = failing.gateway.secret, more: { maxRetries?: number; fetch?: typeof fetch } = {}) {
  return new Anthropic({ baseURL: failing.gateway.url, apiKey: secret, maxRetries: 0, ...more });
}

const request = (model: string, prompt = "Say hello.") => ({
  model,
  max_tokens: 100,
  messages: [{ role: "user" as const, content: prompt }],
});
const tools = [{ name: "look_up", input_schema: { type: "object" as const } }];

describe("the Anthropic SDK", () => {
  test("receives a whole answer with its request id", async () => {
    const answer = await clientOf().messages.create(request("good"));
    expect(answer).toMatchObject({
      model: "good",
      content: [{ type: "text", text: "Hello there, friend." }],
      usage: { input_tokens: 11, output_tokens: 7 },
    });
    expect((await failing.gateway.receiptOf(answer._request_id ?? "")).captured).toBe(25_000n);
  });

  test("receives raw events and collects a stream with its strict helper", async () => {
    const events = await Array.fromAsync(
      await clientOf().messages.create({ ...request("good"), stream: true }),
    );
    expect(events[0]).toMatchObject({ type: "message_start", message: { model: "good" } });
    expect(events.at(-1)).toEqual({ type: "message_stop" });
    const message = await clientOf().messages.stream(request("good")).finalMessage();
    expect(message).toMatchObject({
      stop_reason: "end_turn",
      content: [{ text: "Hello there, friend." }],
      usage: { input_tokens: 11, output_tokens: 7 },
    });
  });

  test("receives a tool call, whole and streamed", async () => {
    const whole = await clientOf().messages.create({ ...request("tool"), tools });
    const streamed = await clientOf()
      .messages.stream({ ...request("tool"), tools })
      .finalMessage();
    for (const message of [whole, streamed]) {
      expect(message).toMatchObject({
        stop_reason: "tool_use",
        content: [{ type: "tool_use", id: "toolu_1", name: "look_up", input: { city: "Oslo" } }],
      });
    }
  });

  test("works with the key header of its older versions", async () => {
    const client = new Anthropic({
      baseURL: failing.gateway.url,
      apiKey: null,
      defaultHeaders: { "x-api-key": failing.gateway.secret, "anthropic-version": "2023-06-01" },
      maxRetries: 0,
    });
    const answer = await client.beta.messages.create({ ...request("good"), betas: ["x-1"] });
    expect(answer.content).toMatchObject([{ text: "Hello there, friend." }]);
    expect(failing.gateway.upstream.seen.at(-1)?.headers).toMatchObject({
      "anthropic-beta": "x-1",
      "anthropic-version": "2023-06-01",
    });
  });

  test("case 12: reads status, type, code, message and request id of every error", async () => {
    for (const failure of failing.failures) {
      for (const stream of [false, true]) {
        const { messages } = clientOf(failure.secret);
        const error = await rejectionOf(
          messages.create({ ...request(failure.model, failure.prompt), stream }),
        );
        expectFailure(error, failure);
      }
    }
  });

  test("retries exactly the errors that a retry can resolve", async () => {
    const tries = failing.failures.map(async ({ name, row, secret, model, prompt }) => {
      const counting = createCountingFetch();
      const client = clientOf(secret, { maxRetries: 1, fetch: counting.fetch });
      await rejectionOf(client.messages.create(request(model, prompt)));
      expect([name, counting.posts]).toEqual([name, row.retry ? 2 : 1]);
    });
    await Promise.all(tries);
  });

  test("reads an error in the middle of a stream, with its type and code", async () => {
    const stream = await clientOf().messages.create({ ...request("breaks"), stream: true });
    const error = await rejectionOf(Array.fromAsync(stream));
    expect(error).toMatchObject({ type: "api_error", errorCode: "upstream_unavailable" });
    expect(await rejectionOf(clientOf().messages.stream(request("breaks")).finalMessage())).toBeInstanceOf(
      APIError,
    );
  });

  test("receives 501 for batches and does not retry", async () => {
    const counting = createCountingFetch();
    const client = clientOf(undefined, { maxRetries: 2, fetch: counting.fetch });
    const error = await rejectionOf(client.messages.batches.create({ requests: [] }));
    expect(error).toMatchObject({ status: 501, errorCode: "not_implemented" });
    expect(counting.posts).toBe(1);
  });
});

function expectFailure(error: unknown, { name, row }: FailureCase): void {
  const [status, type] = row.messages;
  expect(error).toBeInstanceOf(APIError);
  expect([name, error]).toMatchObject([name, { status, type, errorCode: row.code }]);
  if (!(error instanceof APIError)) return;
  if (name !== "422" && name !== "504")
    expect(error.error).toMatchObject({ error: { message: row.message } });
  expect(error.error).toMatchObject({ request_id: error.requestID });
  expect(error.requestID).toMatch(/^[0-9a-f-]{36}$/);
}
