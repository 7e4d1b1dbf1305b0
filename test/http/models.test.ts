import { describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { createSqliteLedger } from "../../src/ledger/sqlite/ledger.ts";
import { CHAT, MESSAGES, objectOf, post } from "../support/client.ts";
import { expectError, expectRequestIds } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { scriptedModel } from "../support/test-catalog.ts";
import { startTestGateway } from "../support/test-gateway.ts";

const IDS = ["chat", "claude", "vendor/model-1", "mödel 100%"];

const gateway = gatewayForTests({ models: IDS.map((id) => scriptedModel(id, "openai")) });

const get = (path: string, secret = gateway.secret, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}${path}`, { headers: { "x-api-key": secret, ...headers } });
const openai = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret, maxRetries: 0 });
const anthropic = () => new Anthropic({ baseURL: gateway.url, apiKey: gateway.secret, maxRetries: 0 });

describe("GET /v1/models", () => {
  test("is read by the OpenAI SDK", async () => {
    const listed = await Array.fromAsync(await openai().models.list());
    expect(listed.map(({ id }) => id)).toEqual(IDS);
    expect(listed[0]).toMatchObject({
      object: "model",
      created: 1_790_000_000,
      owned_by: expect.any(String),
    });
  });

  test("is read to the end by the Anthropic SDK", async () => {
    const listed = await Array.fromAsync(anthropic().models.list({ limit: 1 }));
    expect(listed.map(({ id }) => id)).toEqual(IDS);
    expect(listed[0]).toMatchObject({ type: "model", display_name: "chat", created_at: expect.any(String) });
  });

  test("reports context window, limits and prices, with any version header", async () => {
    const plain = await objectOf(await get("/v1/models"));
    const versioned = await objectOf(
      await get("/v1/models?limit=1000", gateway.secret, { "anthropic-version": "x" }),
    );
    expect(versioned).toEqual(plain);
    expect(plain).toMatchObject({ object: "list", has_more: false, first_id: "chat", last_id: "mödel 100%" });
    expect(plain.data).toContainEqual(
      expect.objectContaining({
        id: "chat",
        context_window: 200_000,
        max_tokens: 8_000,
        price_usd_per_million_tokens: expect.objectContaining({ input: "1.00", output: "2.00" }),
      }),
    );
  });

  test("says what a model can do where that is known", async () => {
    const able = { ...scriptedModel("able", "openai"), can: ["tools", "images", "documents"] as const };
    const other = await startTestGateway({ models: [able, scriptedModel("plain", "openai")] });
    const ask = (id: string) =>
      fetch(`${other.url}/v1/models/${id}`, { headers: { "x-api-key": other.secret } }).then(objectOf);
    expect(await ask("able")).toMatchObject({
      can: ["tools", "images", "documents"],
      architecture: { input_modalities: ["text", "image", "file"] },
    });
    expect(await ask("plain")).not.toHaveProperty("can");
    await other.stop();
  });

  test("lists only the models that a key may use", async () => {
    const { secret } = await gateway.newKey({ models: ["claude"] });
    const listed = await objectOf(await get("/v1/models", secret));
    expect(listed.data).toEqual([expect.objectContaining({ id: "claude" })]);
    await expectError(await get("/v1/models/chat", secret), CHAT, "unknown_model");
    expect((await get("/v1/models/claude", secret)).status).toBe(200);
  });
});

describe("GET /v1/models/{id}", () => {
  test.each(IDS)("returns %p to both SDKs", async (id) => {
    expect((await openai().models.retrieve(id)).id).toBe(id);
    expect((await anthropic().models.retrieve(id)).id).toBe(id);
  });

  test("case 7: accepts a slash in an id as / or %2F", async () => {
    expect(await objectOf(await get("/v1/models/vendor/model-1"))).toMatchObject({ id: "vendor/model-1" });
    expect(await objectOf(await get("/v1/models/vendor%2Fmodel-1"))).toMatchObject({ id: "vendor/model-1" });
  });

  test.each(["nobody", "vendor%2Fnobody", "%zz", "%00", "..%2fkey", "__proto__"])(
    "answers 404 for %p in the envelope of the client",
    async (id) => {
      await expectError(await get(`/v1/models/${id}`), CHAT, "unknown_model");
      const versioned = await get(`/v1/models/${id}`, gateway.secret, { "anthropic-version": "2023-06-01" });
      await expectError(versioned, MESSAGES, "unknown_model");
    },
  );
});

describe("GET /v1/key", () => {
  test("reports what the key may use, has used and has left", async () => {
    const limits = { requestsPerMinute: 10, tokensPerMinute: 5_000, concurrentRequests: 3 };
    const spendingLimit = { amount: 1_000_000_000n, period: "month" as const };
    const { secret, key } = await gateway.newPayer("2", { limits, spendingLimit, models: ["chat"] });
    await (await post(gateway, CHAT, { secret })).text();
    const answer = await get("/v1/key", secret);
    expectRequestIds(answer);
    expect(await objectOf(answer)).toMatchObject({
      id: key.id,
      name: "test",
      models: ["chat"],
      requests_per_minute: { limit: 10, used: 1, remaining: 9 },
      tokens_per_minute: { limit: 5_000, used: 18, remaining: 4_982 },
      concurrent_requests: { limit: 3, used: 0 },
      spending_limits: [
        {
          applies_to: "key",
          period: "month",
          limit_usd: "1.00",
          used_usd: "0.000025",
          remaining_usd: "0.999975",
        },
      ],
      wallet: {
        balance_usd: "1.999975",
        on_hold_usd: "0.00",
        available_usd: "1.999975",
        credits: [{ source: "purchase", left_usd: "1.999975", expires_at: null }],
      },
    });
  });

  test("lists the credits in the order of spending, without one that has ended", async () => {
    const { secret, key } = await gateway.newPayer("2");
    const walletId = key.accountId;
    const [expiresAtMs, endedAtMs] = [Date.now() + 3 * 86_400_000, Date.now() - 1];
    const grants = [
      { topUpId: "gift", amount: 1_000_000_000n, source: "promotion", expiresAtMs },
      { topUpId: "brief", amount: 5_000_000_000n, source: "promotion", expiresAtMs: endedAtMs },
    ] as const;
    // A ledger that grants them a minute ago.
    const past = createSqliteLedger({ database: gateway.sqlite, now: () => endedAtMs - 60_000 });
    for (const grant of grants) await past.topUp({ walletId, ...grant });
    await past.close();
    const { wallet } = await objectOf(await get("/v1/key", secret));
    expect(wallet).toMatchObject({
      available_usd: "3.00",
      credits: [
        { source: "promotion", left_usd: "1.00", expires_at: new Date(expiresAtMs).toISOString() },
        { source: "purchase", left_usd: "2.00", expires_at: null },
      ],
    });
  });

  test("never contains the secret", async () => {
    const text = await (await get("/v1/key")).text();
    expect(text).not.toContain(gateway.secret);
    expect(text).not.toContain(gateway.secret.slice(12));
  });
});

describe("probes without a key:", () => {
  test.each([
    ["HEAD", "/"],
    ["GET", "/"],
    ["GET", "/healthz"],
    ["GET", "/readyz"],
  ])("%s %s is answered", async (method, path) => {
    const answer = await fetch(`${gateway.url}${path}`, { method });
    expect(answer.status).toBe(200);
    expectRequestIds(answer);
  });
});
