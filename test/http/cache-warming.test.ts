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
/** 4 input tokens at 1,000 nano-USD and 800 cache-write tokens at 1,250. */
const COST = 1_004_000n;
const seen = () => JSON.parse(gateway.upstream.seen.at(-1)?.bodyText ?? "{}");

describe("a request with max_tokens 0, which only warms a cache,", () => {
  test("reaches Anthropic unchanged, and its empty answer is a success billed for its input", async () => {
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

  test("is rejected with the field's name when the model has no messages upstream", async () => {
    const response = await post(gateway, MESSAGES, { model: CHAT.model, max_tokens: 0 });
    const message = `${ERRORS.untranslatable.message.slice(0, -1)}: max_tokens`;
    await expectError(response, MESSAGES, "untranslatable", { message });
    expect(gateway.upstream.seen).toEqual([]);
  });

  test("is rejected on chat completions, which have no such request", async () => {
    const response = await post(gateway, CHAT, { max_tokens: 0 });
    const message = `${ERRORS.wrong_shape.message.slice(0, -1)}: max_tokens`;
    await expectError(response, CHAT, "wrong_shape", { message });
  });
});

describe("a top-level cache_control of a chat request", () => {
  const cache_control = { type: "ephemeral", ttl: "1h" };

  test("reaches an Anthropic upstream", async () => {
    expect((await post(gateway, CHAT, { model: MESSAGES.model, cache_control })).status).toBe(200);
    expect(seen()).toMatchObject({ cache_control });
  });

  test("reaches a chat upstream unchanged", async () => {
    const response = await post(gateway, CHAT, { cache_control });
    expect(await objectOf(response)).toHaveProperty("choices");
    expect(seen()).toMatchObject({ cache_control });
  });
});
