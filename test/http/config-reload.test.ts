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

/** The ordinary answer reads and writes a few tokens; ten times the price is ten times the charge. */
const DEAR = { ...TEST_PRICE, input: parsePrice("10.00"), output: parsePrice("20.00") };

/** What the gateway is started with: far more than any test waits. */
const DRAIN_MS = 60_000;

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startTestGateway({ config: { drainMs: DRAIN_MS } });
});
afterEach(() => gateway.stop());

/** What `chat` costs and where it is answered, as a reload would say it. */
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

describe("another configuration", () => {
  test.each([
    ["whole", false],
    ["streamed", true],
  ])("leaves a running %s request its price; the next one pays the new one", async (_how, stream) => {
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
  });

  test("lets a running request fail over to a route that it has taken away", async () => {
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

  test("without a model lets its running request end, and refuses the next", async () => {
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

  test("binds the next request to its limits", async () => {
    gateway.tollgate.apply(offer([chatAt(TEST_PRICE)], { keyLimits: { requestsPerMinute: 1 } }));
    const first = await post(gateway, CHAT);
    expect(first.headers.get("x-ratelimit-limit-requests")).toBe("1");
    expect((await post(gateway, CHAT)).status).toBe(429);
    gateway.tollgate.apply(offer([chatAt(TEST_PRICE)], { keyLimits: { requestsPerMinute: 5 } }));
    expect((await post(gateway, CHAT)).status).toBe(200);
  });

  test("changes when a drain cuts what still runs", async () => {
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
