import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { LiveConfig } from "../../src/config/config.ts";
import type { Model } from "../../src/domain/model.ts";
import { parsePrice } from "../../src/domain/money.ts";
import { CHAT, objectOf, post } from "../support/client.ts";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import {
  scriptedModel,
  scriptedRoute,
  scriptedUpstream,
  scriptedUpstreams,
  TEST_PRICE,
} from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

/** Ten times the default price, so that the charge is ten times as high. */
const DEAR = { ...TEST_PRICE, input: parsePrice("10.00"), output: parsePrice("20.00") };

/** The drain time at start. Longer than any test waits. */
const DRAIN_MS = 240_000;

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startTestGateway({ config: { drainMs: DRAIN_MS } });
});
afterEach(() => gateway.stop());

/** The live configuration after a reload, with these models. */
function offer(models: readonly Model[], more: Partial<LiveConfig> = {}): LiveConfig {
  const upstreams = scriptedUpstreams(gateway.upstream);
  const limits = { keyLimits: {}, accountLimits: {} };
  return { models, upstreams, ...limits, clientDisconnect: "charge_input", drainMs: 2_000, ...more };
}

function chatAt(price: typeof TEST_PRICE, ...upstreams: string[]): Model {
  const names = upstreams.length > 0 ? upstreams : ["scripted-openai"];
  const routes = names.map((name, index) => scriptedRoute(name, "chat", { price, priority: index }));
  return scriptedModel("chat", "openai", { price, routes });
}

async function chargeOf(response: Response): Promise<bigint> {
  return (await gateway.receiptOf(response)).captured;
}

describe("a configuration reload", () => {
  test.each([
    ["whole", false],
    ["streamed", true],
  ])(
    "keeps the price of a running %s request and applies the new price to the next",
    async (_how, stream) => {
      const before = await post(gateway, CHAT, { stream });
      await before.text();
      const { opened, open } = gate();
      gateway.upstream.on(
        "chat",
        answerWith(undefined, stream ? { pauseAt: { bytes: 500, gate: opened } } : { gate: opened }),
        answerWith(),
      );
      const running = post(gateway, CHAT, { stream });
      await gateway.upstream.waitForSeen(2);
      gateway.tollgate.apply(offer([chatAt(DEAR)]));
      const after = await post(gateway, CHAT, { stream });
      await after.text();
      open();
      const answer = await running;
      expect(answer.status).toBe(200);
      await answer.text();
      const old = await chargeOf(before);
      expect(old).toBeGreaterThan(0n);
      expect(await chargeOf(answer)).toBe(old);
      expect(await chargeOf(after)).toBe(old * 10n);
      expect((await gateway.receiptOf(answer)).outcome?.price).toEqual(TEST_PRICE);
    },
  );

  test("lets a running request fail over to a route that the reload removed", async () => {
    const { opened, open } = gate();
    const named = (name: string) => scriptedUpstream(name, "openai", { baseUrl: gateway.upstream.openaiUrl });
    const upstreams = [named("first"), named("second")];
    gateway.tollgate.apply(offer([chatAt(TEST_PRICE, "first", "second")], { upstreams }));
    gateway.upstream.on(
      "chat",
      async function* () {
        await opened;
        yield { leave: "reset" };
      },
      answerWith(),
    );
    const running = post(gateway, CHAT);
    await gateway.upstream.waitForSeen(1);
    gateway.tollgate.apply(offer([chatAt(TEST_PRICE, "first")], { upstreams: [named("first")] }));
    open();
    const answer = await running;
    expect(answer.status).toBe(200);
    await answer.text();
    expect((await gateway.receiptOf(answer)).outcome?.upstream).toBe("second");
  });

  test("that removes a model lets its running request end and rejects the next one", async () => {
    const { opened, open } = gate();
    gateway.upstream.on("chat", answerWith(undefined, { gate: opened }));
    const running = post(gateway, CHAT);
    await gateway.upstream.waitForSeen(1);
    gateway.tollgate.apply(offer([scriptedModel("other", "openai")]));
    const refused = await post(gateway, CHAT);
    expect(refused.status).toBe(404);
    expect(await objectOf(refused)).toMatchObject({ error: { code: "model_not_found" } });
    expect((await post(gateway, CHAT, { model: "other" })).status).toBe(200);
    open();
    expect((await running).status).toBe(200);
  });

  test("sends the next request to the new address with the new key", async () => {
    const { openaiUrl } = gateway.upstream;
    const moved = scriptedUpstream("scripted-openai", "openai", {
      baseUrl: `${openaiUrl}/moved`,
      apiKey: "another-secret",
    });
    await (await post(gateway, CHAT)).text();
    gateway.tollgate.apply(offer([chatAt(TEST_PRICE)], { upstreams: [moved] }));
    await (await post(gateway, CHAT)).text();
    const seen = gateway.upstream.seen.map(({ target, headers }) => [target, headers.authorization]);
    expect(seen).toEqual([
      ["/v1/chat/completions", "Bearer provider-secret"],
      ["/v1/moved/chat/completions", "Bearer another-secret"],
    ]);
  });

  test("applies new rate limits to the next request", async () => {
    gateway.tollgate.apply(offer([chatAt(TEST_PRICE)], { keyLimits: { requestsPerMinute: 1 } }));
    const first = await post(gateway, CHAT);
    expect(first.headers.get("x-ratelimit-limit-requests")).toBe("1");
    expect((await post(gateway, CHAT)).status).toBe(429);
    gateway.tollgate.apply(offer([chatAt(TEST_PRICE)], { keyLimits: { requestsPerMinute: 5 } }));
    expect((await post(gateway, CHAT)).status).toBe(200);
  });

  test("changes the drain time of running requests", async () => {
    gateway.tollgate.apply(offer([chatAt(TEST_PRICE)], { drainMs: 0 }));
    const { opened, open } = gate();
    gateway.upstream.on("chat", answerWith(undefined, { gate: opened }));
    const running = post(gateway, CHAT).then(
      ({ status }) => status,
      () => 0,
    );
    await gateway.upstream.waitForSeen(1);
    const startedAt = performance.now();
    await gateway.tollgate.stop();
    expect(performance.now() - startedAt).toBeLessThan(DRAIN_MS / 2);
    open();
    expect(await running).not.toBe(200);
    gateway.tollgate.stop = async () => {};
  });
});
