import { describe, expect, test } from "bun:test";
import { objectOf, post, quotedTokens, SURFACES, windowOf } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { startTestGateway } from "../support/test-gateway.ts";
import { until } from "../support/until.ts";

const gateway = gatewayForTests();

/** Resolves when the key has no running request. Rejects after two minutes. */
async function nothingRuns(secret: string): Promise<void> {
  await until(async () => {
    const state = await objectOf(await fetch(`${gateway.url}/v1/key`, { headers: { "x-api-key": secret } }));
    return Bun.deepEquals(state.concurrent_requests, { limit: 1, used: 0 });
  });
}

describe.each(SURFACES)("requests per minute on $path", (surface) => {
  test("admit exactly the limit, count down, and then decline with a retry-after", async () => {
    const { secret } = await gateway.newKey({ limits: { requestsPerMinute: 3 } });
    const startedAt = performance.now();
    for (const remaining of [2, 1, 0]) {
      const response = await post(gateway, surface, { secret });
      expect(response.status).toBe(200);
      expect(windowOf(response, surface, "requests")).toMatchObject({ limit: 3, remaining });
    }
    const refused = await post(gateway, surface, { secret });
    const elapsedS = (performance.now() - startedAt) / 1_000;
    expect(Number(refused.headers.get("retry-after"))).toBeWithin(59 - elapsedS, 61);
    expect(windowOf(refused, surface, "requests")).toMatchObject({ limit: 3, remaining: 0 });
    await expectError(refused, surface, "rate_limited");
    expect(gateway.upstream.seen).toHaveLength(3);
  });

  test("admit exactly the limit of a hundred concurrent requests", async () => {
    const { secret } = await gateway.newKey({ limits: { requestsPerMinute: 10 } });
    const all = await Promise.all(Array.from({ length: 100 }, () => post(gateway, surface, { secret })));
    expect(all.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(all.filter(({ status }) => status === 429)).toHaveLength(90);
  });

  test("report when the window is empty again, in the format of the surface", async () => {
    const { secret } = await gateway.newKey({ limits: { requestsPerMinute: 3 } });
    const { reset } = windowOf(await post(gateway, surface, { secret }), surface, "requests");
    if (surface.name === "chat") expect(reset).toMatch(/^(5\d|60)s$/);
    else {
      expect(reset).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
      expect(Date.parse(reset) - Date.now()).toBeWithin(50_000, 61_000);
    }
  });

  test("are reported after a 402 has returned its request and tokens", async () => {
    const { secret } = await gateway.newPayer("0", {
      limits: { requestsPerMinute: 3, tokensPerMinute: 9_000 },
    });
    const refused = await post(gateway, surface, { secret });
    expect(refused.status).toBe(402);
    expect(windowOf(refused, surface, "requests")).toMatchObject({ limit: 3, remaining: 3 });
    expect(windowOf(refused, surface, "tokens")).toMatchObject({ limit: 9_000, remaining: 9_000 });
  });

  test("have no headers without a limit, and never forward those of an upstream", async () => {
    const headers = {
      "x-ratelimit-limit-requests": "77",
      "anthropic-ratelimit-requests-limit": "77",
      "anthropic-ratelimit-unified-status": "allowed",
    };
    gateway.upstream.on(surface.model, answerWith(undefined, { headers }));
    const response = await post(gateway, surface);
    expect([...response.headers.keys()].filter((name) => name.includes("ratelimit"))).toBeEmpty();
  });
});

describe.each(SURFACES)("tokens per minute on $path", (surface) => {
  test("reserve the quote at admission and keep the tokens used", async () => {
    const quoted = quotedTokens(surface);
    const { secret } = await gateway.newKey({ limits: { tokensPerMinute: 5_000 } });
    const first = await post(gateway, surface, { secret });
    expect(windowOf(first, surface, "tokens")).toMatchObject({ limit: 5_000, remaining: 5_000 - quoted });
    await first.text();
    // The first request used 18 tokens.
    const second = await post(gateway, surface, { secret });
    expect(windowOf(second, surface, "tokens")).toMatchObject({ remaining: 5_000 - 18 - quoted });
  });

  test("decline what does not fit beside running requests", async () => {
    const { secret } = await gateway.newKey({ limits: { tokensPerMinute: quotedTokens(surface) + 100 } });
    const { opened, open } = gate();
    gateway.upstream.on(surface.model, answerWith(undefined, { gate: opened }));
    const running = post(gateway, surface, { secret });
    await gateway.upstream.waitForSeen(1);
    await expectError(await post(gateway, surface, { secret }), surface, "rate_limited");
    open();
    await (await running).text();
    expect((await post(gateway, surface, { secret })).status).toBe(200);
  });
});

describe.each(SURFACES)("concurrent requests on $path", (surface) => {
  test("are limited, and a slot is free after its request has ended", async () => {
    const { secret } = await gateway.newKey({ limits: { concurrentRequests: 2 } });
    const { opened, open } = gate();
    gateway.upstream.on(surface.model, answerWith(undefined, { gate: opened }));
    const running = [post(gateway, surface, { secret }), post(gateway, surface, { secret, stream: true })];
    await gateway.upstream.waitForSeen(2);
    const refused = await post(gateway, surface, { secret });
    expect(refused.headers.get("retry-after")).toBe("1");
    await expectError(refused, surface, "too_concurrent");
    open();
    for (const response of await Promise.all(running)) await response.text();
    for (let round = 0; round < 5; round++) {
      expect((await post(gateway, surface, { secret })).status).toBe(200);
    }
  });

  test("are reduced by a client that disconnects", async () => {
    const { secret } = await gateway.newKey({ limits: { concurrentRequests: 1 } });
    const { opened } = gate();
    gateway.upstream.on(surface.model, answerWith(undefined, { gate: opened }), answerWith());
    const controller = new AbortController();
    const running = post(gateway, surface, { secret, signal: controller.signal }).catch(() => undefined);
    await gateway.upstream.waitForSeen(1);
    controller.abort();
    await running;
    await nothingRuns(secret);
    expect((await post(gateway, surface, { secret })).status).toBe(200);
  });

  test("are reduced by any failed request", async () => {
    const { secret } = await gateway.newKey({ limits: { concurrentRequests: 1 } });
    for (const body of [{ model: "nobody" }, { raw: "{" }, { max_tokens: -1 }]) {
      expect((await post(gateway, surface, { secret, ...body })).status).not.toBe(200);
      expect((await post(gateway, surface, { secret })).status).toBe(200);
    }
  });
});

describe("limits", () => {
  const [surface] = SURFACES;

  test("of a key and its account both apply, and the headers report the tighter one", async () => {
    const bounded = await startTestGateway({ accountLimits: { requestsPerMinute: 4 } });
    const tight = await bounded.newKey({ limits: { requestsPerMinute: 2 } });
    const wide = await bounded.newKey({ limits: { requestsPerMinute: 100 } });
    const readWindow = async (secret: string) =>
      windowOf(await post(bounded, surface, { secret }), surface, "requests");
    expect(await readWindow(tight.secret)).toMatchObject({ limit: 2, remaining: 1 });
    expect(await readWindow(tight.secret)).toMatchObject({ limit: 2, remaining: 0 });
    expect(await readWindow(wide.secret)).toMatchObject({ limit: 4, remaining: 1 });
    expect(await readWindow(wide.secret)).toMatchObject({ limit: 4, remaining: 0 });
    await expectError(await post(bounded, surface, { secret: wide.secret }), surface, "rate_limited");
    await bounded.stop();
  });

  test("of one account do not affect another", async () => {
    const bounded = await startTestGateway({ accountLimits: { requestsPerMinute: 1 } });
    const other = await bounded.newPayer("1");
    expect((await post(bounded, surface)).status).toBe(200);
    expect((await post(bounded, surface)).status).toBe(429);
    expect((await post(bounded, surface, { secret: other.secret })).status).toBe(200);
    await bounded.stop();
  });

  test("that decline a request leave the other limits unchanged", async () => {
    const limits = { requestsPerMinute: 50, concurrentRequests: 0 };
    const { secret } = await gateway.newKey({ limits });
    for (let attempt = 0; attempt < 5; attempt++) await post(gateway, surface, { secret });
    const state = await fetch(`${gateway.url}/v1/key`, { headers: { "x-api-key": secret } });
    expect(await objectOf(state)).toMatchObject({
      requests_per_minute: { limit: 50, used: 0, remaining: 50 },
      concurrent_requests: { limit: 0, used: 0 },
    });
  });
});
