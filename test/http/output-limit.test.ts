import { describe, expect, test } from "bun:test";
import { post, SURFACES, type Surface } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";

const gateway = gatewayForTests();

/** The output ceiling that the upstream was last sent. */
function sentCeiling(): number {
  const text = gateway.upstream.seen.at(-1)?.bodyText ?? "{}";
  const body: Record<string, unknown> = JSON.parse(text);
  return Number(body.max_completion_tokens ?? body.max_tokens);
}

/** The whole USD that input and so many output tokens of an ordinary request are held for. */
function usdFor(surface: Surface, outputTokens: number, more: object = {}): string {
  const inputTokens = Math.ceil(Buffer.byteLength(JSON.stringify(surface.body(more))) / 2);
  // Held at the dearest input price, 2,000 nano-USD for the one-hour cache.
  const nanos = inputTokens * 2_000 + outputTokens * 2_000;
  return (nanos / 1e9).toFixed(9);
}

describe.each(SURFACES)("the output ceiling on $path", (surface) => {
  test("is the model's default when the client names none, and is said", async () => {
    const response = await post(gateway, surface);
    expect(sentCeiling()).toBe(1_000);
    expect(response.headers.get("x-tollgate-max-tokens")).toBe("1000");
  });

  test("is the client's own when it names one, and is not said", async () => {
    const response = await post(gateway, surface, { max_tokens: 321 });
    expect(sentCeiling()).toBe(321);
    expect(response.headers.has("x-tollgate-max-tokens")).toBe(false);
  });

  test("is capped at the model's, and the client hears of it", async () => {
    const response = await post(gateway, surface, { max_tokens: 1_000_000 });
    expect(sentCeiling()).toBe(8_000);
    expect(response.headers.get("x-tollgate-max-tokens")).toBe("8000");
  });

  test("of ours is lowered to what the wallet pays for, to the token", async () => {
    const { secret } = await gateway.newPayer(usdFor(surface, 300));
    const response = await post(gateway, surface, { secret });
    expect(response.status).toBe(200);
    expect(sentCeiling()).toBe(300);
    expect(response.headers.get("x-tollgate-max-tokens")).toBe("300");
  });

  test("of ours is lowered to 256 tokens and no further", async () => {
    const least = await gateway.newPayer(usdFor(surface, 256));
    expect((await post(gateway, surface, { secret: least.secret })).status).toBe(200);
    expect(sentCeiling()).toBe(256);
    const less = await gateway.newPayer(usdFor(surface, 255));
    await expectError(await post(gateway, surface, { secret: less.secret }), surface, "wallet_empty");
  });

  test("of the client is never lowered by itself", async () => {
    const more = { max_tokens: 1_000 };
    const exact = await gateway.newPayer(usdFor(surface, 1_000, more));
    const short = await gateway.newPayer(usdFor(surface, 999, more));
    expect((await post(gateway, surface, { secret: exact.secret, ...more })).status).toBe(200);
    const refused = await post(gateway, surface, { secret: short.secret, ...more });
    await expectError(refused, surface, "wallet_empty");
  });

  test("of the client is lowered when request or key allow it", async () => {
    const more = { max_tokens: 1_000 };
    const usd = usdFor(surface, 400, more);
    const asked = await gateway.newPayer(usd);
    const headers = { "x-tollgate-clamp": "allow" };
    expect((await post(gateway, surface, { secret: asked.secret, headers, ...more })).status).toBe(200);
    expect(sentCeiling()).toBe(400);
    const allowed = await gateway.newPayer(usd, { allowsClamp: true });
    const response = await post(gateway, surface, { secret: allowed.secret, ...more });
    expect(response.headers.get("x-tollgate-max-tokens")).toBe("400");
    expect(sentCeiling()).toBe(400);
  });

  test("follows what a spending limit leaves", async () => {
    const amount = BigInt(Math.round(Number(usdFor(surface, 500)) * 1e9));
    const { secret } = await gateway.newPayer("1", { spendingLimit: { amount, period: "month" } });
    expect((await post(gateway, surface, { secret })).status).toBe(200);
    expect(sentCeiling()).toBe(500);
  });

  test("is lowered to what a minute admits", async () => {
    const input = Math.ceil(Buffer.byteLength(JSON.stringify(surface.body())) / 2);
    const { secret } = await gateway.newKey({ limits: { tokensPerMinute: input + 600 } });
    expect((await post(gateway, surface, { secret })).status).toBe(200);
    expect(sentCeiling()).toBe(600);
  });
});

describe.each(SURFACES)("a reasoning budget on $path", (surface) => {
  test.each([0.5, 1024.5, 1e300])("of %p tokens is taken without a fault of ours", async (budget_tokens) => {
    const response = await post(gateway, surface, { thinking: { budget_tokens } });
    expect(response.status).toBe(200);
    expect(sentCeiling()).toBeWithin(1_000, 8_001);
    expect(Number.isInteger(sentCeiling())).toBe(true);
  });
});

describe.each(SURFACES)("a paid answer on $path", (surface) => {
  test("says its cost and what is left when it was not streamed", async () => {
    const { secret, key } = await gateway.newPayer("2");
    const response = await post(gateway, surface, { secret });
    expect(response.headers.get("x-tollgate-cost-usd")).toBe("0.000025");
    expect(response.headers.get("x-tollgate-balance-usd")).toBe("1.999975");
    expect((await gateway.balances(key.accountId)).available).toBe(1_999_975_000n);
  });

  test("holds exactly its quote while it runs", async () => {
    const { secret, key } = await gateway.newPayer("2");
    const response = await post(gateway, surface, { secret, max_tokens: 100 });
    const { granted } = await gateway.receiptOf(response, key.accountId);
    expect(granted).toBe(BigInt(Math.round(Number(usdFor(surface, 100, { max_tokens: 100 })) * 1e9)));
  });
});

describe.each(SURFACES)("a request refused with 402 on $path", (surface) => {
  test("gives back requests, tokens and slot", async () => {
    const limits = { requestsPerMinute: 2, tokensPerMinute: 3_000, concurrentRequests: 1 };
    const { secret, key } = await gateway.newPayer("0", { limits });
    for (let attempt = 0; attempt < 6; attempt++) {
      await expectError(await post(gateway, surface, { secret }), surface, "wallet_empty");
    }
    const { ledger } = gateway.tollgate;
    await ledger.topUp({ walletId: key.accountId, topUpId: "later", amount: 1_000_000_000n });
    // Repeated refusals are answered from memory for a second.
    await Bun.sleep(1_050);
    expect((await post(gateway, surface, { secret })).status).toBe(200);
    expect((await post(gateway, surface, { secret })).status).toBe(200);
    await expectError(await post(gateway, surface, { secret }), surface, "rate_limited");
  });
});
