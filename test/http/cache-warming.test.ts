import { describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { ERRORS } from "../../src/errors.ts";
import { CHAT, MESSAGES, objectOf, post } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer } from "../support/script.ts";

const gateway = gatewayForTests();

const EMPTY = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "theirs",
  content: [],
  stop_reason: "max_tokens",
  stop_sequence: null,
  usage: { input_tokens: 4, cache_creation_input_tokens: 800, cache_read_input_tokens: 0, output_tokens: 0 },
};
/** Four tokens at 1,000 nano-USD and eight hundred written at 1,250. */
const COST = 1_004_000n;
const seen = () => JSON.parse(gateway.upstream.seen.at(-1)?.bodyText ?? "{}");

describe("a request that only warms a cache", () => {
  test("reaches Anthropic as it is, and its empty answer is one, billed for its input", async () => {
    gateway.upstream.on(MESSAGES.model, answer({ body: JSON.stringify(EMPTY) }));
    const client = new Anthropic({ baseURL: gateway.url, apiKey: gateway.secret, maxRetries: 0 });
    const message = await client.messages.create({
      model: MESSAGES.model,
      max_tokens: 0,
      cache_control: { type: "ephemeral" },
      messages: [{ role: "user", content: "warm up" }],
    });
    expect(seen()).toMatchObject({ max_tokens: 0, cache_control: { type: "ephemeral" } });
    expect(message).toMatchObject({ ...EMPTY, model: MESSAGES.model });
    const receipt = await gateway.receiptOf(message._request_id ?? "");
    expect(receipt.captured).toBe(COST);
  });

  test("is held for its input only", async () => {
    gateway.upstream.on(MESSAGES.model, answer({ body: JSON.stringify(EMPTY) }));
    const { secret } = await gateway.newPayer("0.002");
    const prompt = { messages: [{ role: "user", content: "warm up" }] };
    expect((await post(gateway, MESSAGES, { ...prompt, secret, max_tokens: 0 })).status).toBe(200);
    const poor = await gateway.newPayer("0.002");
    await expectError(
      await post(gateway, MESSAGES, { ...prompt, secret: poor.secret, max_tokens: 2_000 }),
      MESSAGES,
      "wallet_empty",
    );
  });

  test("is refused by name where the model has no upstream of messages", async () => {
    const response = await post(gateway, MESSAGES, { model: CHAT.model, max_tokens: 0 });
    const message = `${ERRORS.untranslatable.message.slice(0, -1)}: max_tokens`;
    await expectError(response, MESSAGES, "untranslatable", { message });
    expect(gateway.upstream.seen).toEqual([]);
  });

  test("is refused on chat completions, which have none", async () => {
    const response = await post(gateway, CHAT, { max_tokens: 0 });
    const message = `${ERRORS.wrong_shape.message.slice(0, -1)}: max_tokens`;
    await expectError(response, CHAT, "wrong_shape", { message });
  });
});

describe("a cache mark of a whole chat request", () => {
  const cache_control = { type: "ephemeral", ttl: "1h" };

  test("reaches Anthropic", async () => {
    expect((await post(gateway, CHAT, { model: MESSAGES.model, cache_control })).status).toBe(200);
    expect(seen()).toMatchObject({ cache_control });
  });

  test("passes as it is to a host of chat completions", async () => {
    const response = await post(gateway, CHAT, { cache_control });
    expect(await objectOf(response)).toHaveProperty("choices");
    expect(seen()).toMatchObject({ cache_control });
  });
});
