import { describe, expect, test } from "bun:test";
import { post, SURFACES, type Surface } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";

const gateway = gatewayForTests();

/** The output limit of the last upstream call. */
function sentOutputLimit(): number {
  const text = gateway.upstream.seen.at(-1)?.bodyText ?? "{}";
  const body: Record<string, unknown> = JSON.parse(text);
  return Number(body.max_completion_tokens ?? body.max_tokens);
}

/** The amount in USD that input and this many output tokens of the default request are held for. */
function usdFor(surface: Surface, outputTokens: number, more: object = {}): string {
  const inputTokens = Math.ceil(Buffer.byteLength(JSON.stringify(surface.body(more))) / 2);
  // Input is held at the highest price, 2,000 nano-USD for a one-hour cache write.
  const nanos = inputTokens * 2_000 + outputTokens * 2_000;
  return (nanos / 1e9).toFixed(9);
}

describe.each(SURFACES)("the output limit on $path", (surface) => {
  test("is the default of the model when the client sets none, and is reported in a header", async () => {
    const response = await post(gateway, surface);
    expect(sentOutputLimit()).toBe(1_000);
    expect(response.headers.get("x-tollgate-max-tokens")).toBe("1000");
  });

  test("is the client's own when it sets one, and is not reported", async () => {
    const response = await post(gateway, surface, { max_tokens: 321 });
    expect(sentOutputLimit()).toBe(321);
    expect(response.headers.has("x-tollgate-max-tokens")).toBe(false);
  });

  test("is capped at the maximum of the model, and is reported", async () => {
    const response = await post(gateway, surface, { max_tokens: 1_000_000 });
    expect(sentOutputLimit()).toBe(8_000);
    expect(response.headers.get("x-tollgate-max-tokens")).toBe("8000");
  });

  test("that the gateway sets is lowered to what the wallet pays for, to the token", async () => {
    const { secret } = await gateway.newPayer(usdFor(surface, 300));
    const response = await post(gateway, surface, { secret });
    expect(response.status).toBe(200);
    expect(sentOutputLimit()).toBe(300);
    expect(response.headers.get("x-tollgate-max-tokens")).toBe("300");
  });

  test("that the gateway sets is lowered to 256 tokens at least", async () => {
    const least = await gateway.newPayer(usdFor(surface, 256));
    expect((await post(gateway, surface, { secret: least.secret })).status).toBe(200);
    expect(sentOutputLimit()).toBe(256);
    const less = await gateway.newPayer(usdFor(surface, 255));
    await expectError(await post(gateway, surface, { secret: less.secret }), surface, "wallet_empty");
  });

  test("that the client sets is not lowered by default", async () => {
    const more = { max_tokens: 1_000 };
    const exact = await gateway.newPayer(usdFor(surface, 1_000, more));
    const short = await gateway.newPayer(usdFor(surface, 999, more));
    expect((await post(gateway, surface, { secret: exact.secret, ...more })).status).toBe(200);
    const refused = await post(gateway, surface, { secret: short.secret, ...more });
    await expectError(refused, surface, "wallet_empty");
  });

  test("that the client sets is lowered when the request or the key allows it", async () => {
    const more = { max_tokens: 1_000 };
    const usd = usdFor(surface, 400, more);
    const asked = await gateway.newPayer(usd);
    const headers = { "x-tollgate-clamp": "allow" };
    expect((await post(gateway, surface, { secret: asked.secret, headers, ...more })).status).toBe(200);
    expect(sentOutputLimit()).toBe(400);
    const allowed = await gateway.newPayer(usd, { allowsClamp: true });
    const response = await post(gateway, surface, { secret: allowed.secret, ...more });
    expect(response.headers.get("x-tollgate-max-tokens")).toBe("400");
    expect(sentOutputLimit()).toBe(400);
  });

  test("is lowered to what a spending limit leaves", async () => {
    const amount = BigInt(Math.round(Number(usdFor(surface, 500)) * 1e9));
    const { secret } = await gateway.newPayer("1", { spendingLimit: { amount, period: "month" } });
    expect((await post(gateway, surface, { secret })).status).toBe(200);
    expect(sentOutputLimit()).toBe(500);
  });

  test("is lowered to what a minute admits", async () => {
    const input = Math.ceil(Buffer.byteLength(JSON.stringify(surface.body())) / 2);
    const { secret } = await gateway.newKey({ limits: { tokensPerMinute: input + 600 } });
    expect((await post(gateway, surface, { secret })).status).toBe(200);
    expect(sentOutputLimit()).toBe(600);
  });
});

describe.each(SURFACES)("a reasoning budget on $path", (surface) => {
  test.each([0.5, 1024.5, 1e300])("of %p tokens causes no internal error", async (budget_tokens) => {
    const response = await post(gateway, surface, { thinking: { budget_tokens } });
    expect(response.status).toBe(200);
    expect(sentOutputLimit()).toBeWithin(1_000, 8_001);
    expect(Number.isInteger(sentOutputLimit())).toBe(true);
  });
});

describe.each(SURFACES)("a paid answer on $path", (surface) => {
  test("reports its cost and the balance when it is not streamed", async () => {
    const { secret, key } = await gateway.newPayer("2");
    const response = await post(gateway, surface, { secret });
    expect(response.headers.get("x-tollgate-cost-usd")).toBe("0.000025");
    expect(response.headers.get("x-tollgate-balance-usd")).toBe("1.999975");
    expect((await gateway.balances(key.accountId)).available).toBe(1_999_975_000n);
  });

  test("was held for exactly its quote", async () => {
    const { secret, key } = await gateway.newPayer("2");
    const response = await post(gateway, surface, { secret, max_tokens: 100 });
    const { granted } = await gateway.receiptOf(response, key.accountId);
    expect(granted).toBe(BigInt(Math.round(Number(usdFor(surface, 100, { max_tokens: 100 })) * 1e9)));
  });
});

describe.each(SURFACES)("a request declined with 402 on $path", (surface) => {
  test("returns its requests, tokens and slot", async () => {
    const limits = { requestsPerMinute: 2, tokensPerMinute: 3_000, concurrentRequests: 1 };
    const { secret, key } = await gateway.newPayer("0", { limits });
    for (let attempt = 0; attempt < 6; attempt++) {
      await expectError(await post(gateway, surface, { secret }), surface, "wallet_empty");
    }
    const { ledger } = gateway.tollgate;
    await ledger.topUp({ walletId: key.accountId, topUpId: "later", amount: 1_000_000_000n });
    // Repeated declines are answered from memory for one second.
    await Bun.sleep(1_050);
    expect((await post(gateway, surface, { secret })).status).toBe(200);
    expect((await post(gateway, surface, { secret })).status).toBe(200);
    await expectError(await post(gateway, surface, { secret }), surface, "rate_limited");
  });
});
