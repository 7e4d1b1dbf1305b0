import { describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { type Price, scalePrice } from "../../src/domain/model.ts";
import { parseMarkup } from "../../src/domain/money.ts";
import { CHAT, MESSAGES, objectOf, post, RESPONSES, type Surface } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { HELLO } from "../support/model-output.ts";
import { answer, type Script, type ScriptRequest } from "../support/script.ts";
import { EVENT_STREAM, frame, streamedLines, wholeFor } from "../support/scripted-answers.ts";
import {
  scriptedModel,
  scriptedRoute,
  scriptedUpstream,
  scriptedUpstreams,
  TEST_PRICE,
} from "../support/test-catalog.ts";

const times = (factor: string) => scalePrice(TEST_PRICE, parseMarkup(factor));
const TIERED: Price = {
  ...TEST_PRICE,
  tiers: {
    priority: times("2"),
    flex: times("0.5"),
    fast: times("6"),
    us: times("1.1"),
    fast_us: times("6.6"),
  },
};
const tiered = (id: string, upstream: string, others: readonly ReturnType<typeof scriptedRoute>[] = []) =>
  scriptedModel(id, "openai", {
    price: TIERED,
    routes: [scriptedRoute(upstream, id, { price: TIERED }), ...others],
  });
const second = scriptedRoute("native", "second", { price: TIERED, priority: 2 });

const gateway = gatewayForTests({
  models: [
    tiered("chat", "scripted-openai"),
    tiered("native", "native"),
    tiered("claude", "scripted-anthropic"),
    tiered("hurried", "hurried"),
    scriptedModel("hurried-plain", "openai", { routes: [scriptedRoute("hurried", "hurried-plain")] }),
    scriptedModel("plain", "openai"),
    scriptedModel("plain-claude", "anthropic"),
    scriptedModel("mixed", "openai", { routes: [scriptedRoute("scripted-openai", "first"), second] }),
  ],
  upstreams: (scripted) => [
    ...scriptedUpstreams(scripted),
    scriptedUpstream("native", "openai", { baseUrl: scripted.openaiUrl, hasResponses: true }),
    scriptedUpstream("hurried", "openai", { baseUrl: scripted.openaiUrl, defaultTier: "priority" }),
  ],
});

/** What an answer says of its tier: in OpenAI's formats beside its id, in Anthropic's within its usage. */
type Said = Readonly<Record<string, string>>;

/** Answers "Hello there, friend." for 11 input and 7 output tokens, 25,000 nano-USD at the standard price. */
function servedAs(said: Said): Script {
  return (request) => {
    if (!request.stream)
      return answer({ body: JSON.stringify(withTier(wholeFor(request, OUTPUT), said)) })(request);
    const lines = streamedLines(request, OUTPUT).map((line) =>
      JSON.stringify(withTier(JSON.parse(line), said)),
    );
    return answer({ headers: EVENT_STREAM, body: frame(framingOf(request), lines) })(request);
  };
}

const OUTPUT = { ...HELLO, usage: { input: 11, output: 7 } };

function framingOf({ target, protocol }: ScriptRequest) {
  return target.endsWith("/responses") ? "anthropic" : protocol;
}

function withTier(event: object, said: Said): object {
  const members = { ...event } as Record<string, object | string>;
  const inner = members.response ?? members.message;
  if (typeof inner === "object") {
    return { ...members, [members.response ? "response" : "message"]: withTier(inner, said) };
  }
  const isOfMessage = members.type === "message" || members.type === "message_delta";
  if (isOfMessage) return { ...members, usage: { ...Object(members.usage), ...said } };
  return members.object === undefined ? members : { ...members, ...said };
}

const DOUBT = "service tier not asked for";

interface Way {
  readonly surface: Surface<string>;
  readonly model: string;
}
const OPENAI_WAYS: readonly Way[] = [
  { surface: CHAT, model: "chat" },
  { surface: RESPONSES, model: "native" },
  // Translated to chat completions.
  { surface: RESPONSES, model: "chat" },
];
const CLAUDE: Way = { surface: MESSAGES, model: "claude" };

async function ask({ surface, model }: Way, body: object, said: Said, stream = false): Promise<Response> {
  gateway.upstream.on(model, servedAs(said));
  const response = await post(gateway, surface, { model, stream, ...body });
  await response.clone().text();
  return response;
}

const bodyOf = () => JSON.parse(gateway.upstream.seen.at(-1)?.bodyText ?? "{}");
const tier = (service_tier: string) => ({ service_tier });

describe.each([false, true])("an answer of OpenAI's formats (streamed: %p)", (stream) => {
  test.each<[asked: object, said: Said, name: string | undefined, nanos: bigint]>([
    [tier("priority"), tier("priority"), "priority", 50_000n],
    [tier("fast"), tier("fast"), "priority", 50_000n],
    [tier("priority"), tier("default"), undefined, 25_000n],
    [tier("priority"), {}, "priority", 50_000n],
    [tier("flex"), tier("flex"), "flex", 12_500n],
    [tier("auto"), tier("priority"), "priority", 50_000n],
    [tier("auto"), tier("flex"), "flex", 12_500n],
    [tier("auto"), tier("default"), undefined, 25_000n],
    [tier("auto"), {}, undefined, 25_000n],
    // Capacity that was bought in advance has no price here.
    [tier("auto"), tier("scale"), undefined, 25_000n],
    [tier("default"), tier("default"), undefined, 25_000n],
    [{}, tier("default"), undefined, 25_000n],
    [{}, {}, undefined, 25_000n],
  ])("to %j that says %j has the tier %p", async (asked, said, name, nanos) => {
    for (const way of OPENAI_WAYS) {
      const receipt = await gateway.receiptOf(await ask(way, asked, said, stream));
      expect(receipt).toMatchObject({ captured: nanos, outcome: { source: "reported" } });
      expect(receipt.outcome?.tier).toBe(name);
      expect(receipt.outcome?.price?.input).toBe((TEST_PRICE.input * nanos) / 25_000n);
      expect(receipt.granted).toBeGreaterThanOrEqual(nanos);
      expect(JSON.stringify(gateway.log.about(receipt.holdId))).not.toContain(DOUBT);
    }
  });

  test.each<[asked: object, said: Said, name: string | undefined, nanos: bigint]>([
    [{}, tier("priority"), undefined, 25_000n],
    [tier("default"), tier("priority"), undefined, 25_000n],
    [tier("flex"), tier("default"), "flex", 12_500n],
    [tier("flex"), tier("priority"), "flex", 12_500n],
    [tier("priority"), tier("ultrafast"), "priority", 50_000n],
    [tier("priority"), tier("platinum; drop table"), "priority", 50_000n],
    [{}, tier("platinum"), undefined, 25_000n],
  ])("to %j that says %j is not believed, and is charged as asked for", async (asked, said, name, nanos) => {
    const receipt = await gateway.receiptOf(await ask(OPENAI_WAYS[0] as Way, asked, said, stream));
    expect(receipt).toMatchObject({ captured: nanos, outcome: { attempts: [{ report: "tier" }] } });
    expect(receipt.outcome?.tier).toBe(name);
    const lines = JSON.stringify(gateway.log.about(receipt.holdId));
    expect(lines).toContain(`"level":"error"`);
    expect(lines).toContain(DOUBT);
    expect(lines).not.toContain("platinum");
  });

  test("to messages has the tier that its usage reports", async () => {
    const rows: readonly [object, Said, string | undefined, bigint][] = [
      [{ speed: "fast" }, { speed: "fast" }, "fast", 150_000n],
      [{ speed: "fast" }, { speed: "standard", service_tier: "standard" }, undefined, 25_000n],
      [{ speed: "fast" }, {}, "fast", 150_000n],
      [{ inference_geo: "us" }, { inference_geo: "us", service_tier: "standard" }, "us", 27_500n],
      [{ inference_geo: "us", speed: "fast" }, { inference_geo: "us", speed: "fast" }, "fast_us", 165_000n],
      [{ inference_geo: "us", speed: "fast" }, { inference_geo: "us", speed: "standard" }, "us", 27_500n],
      [{ service_tier: "auto" }, { service_tier: "priority" }, undefined, 25_000n],
      [{ service_tier: "standard_only" }, { service_tier: "standard" }, undefined, 25_000n],
      [{}, { service_tier: "priority" }, undefined, 25_000n],
    ];
    for (const [asked, said, name, nanos] of rows) {
      const receipt = await gateway.receiptOf(await ask(CLAUDE, { max_tokens: 50, ...asked }, said, stream));
      expect([name, receipt.captured, receipt.outcome?.tier]).toEqual([name, nanos, name]);
      expect(receipt.outcome?.attempts[0]?.report).toBeUndefined();
    }
  });
});

test("a hold has the price of the tier that is asked for; auto has the dearest that may be chosen", async () => {
  const held = async (service_tier: string) => {
    const receipt = await gateway.receiptOf(
      await ask({ surface: CHAT, model: "chat" }, { service_tier }, {}),
    );
    const bytes = Buffer.byteLength(JSON.stringify(CHAT.body({ stream: false, service_tier })));
    return receipt.granted / BigInt(Math.ceil(bytes / 2) + 1_000);
  };
  expect(await held("default")).toBe(2_000n);
  expect(await held("priority")).toBe(4_000n);
  expect(await held("flex")).toBe(1_000n);
  expect(await held("auto")).toBe(4_000n);
});

describe("an upstream whose default is priority", () => {
  const hurried: Way = { surface: CHAT, model: "hurried" };

  test.each<[asked: object, said: Said, name: string | undefined, nanos: bigint]>([
    [{}, tier("priority"), "priority", 50_000n],
    [{}, tier("default"), undefined, 25_000n],
    [{}, {}, undefined, 25_000n],
    [tier("auto"), tier("priority"), "priority", 50_000n],
  ])("is charged as served for %j that says %j", async (asked, said, name, nanos) => {
    const receipt = await gateway.receiptOf(await ask(hurried, asked, said));
    expect(receipt).toMatchObject({ captured: nanos, outcome: { attempts: [{ upstream: "hurried" }] } });
    expect(receipt.outcome?.tier).toBe(name);
    expect(receipt.outcome?.attempts[0]?.report).toBeUndefined();
    expect(receipt.granted).toBeGreaterThanOrEqual(4_000n * 1_000n);
  });

  test.each<[asked: object, model: string]>([
    [tier("default"), "hurried"],
    [tier("flex"), "hurried"],
    [{}, "hurried-plain"],
  ])("is not believed when %j on %s says priority", async (asked, model) => {
    const receipt = await gateway.receiptOf(await ask({ surface: CHAT, model }, asked, tier("priority")));
    expect(receipt.outcome).toMatchObject({ attempts: [{ report: "tier" }] });
    expect(receipt.captured).toBeLessThanOrEqual(25_000n);
  });

  test("is asked for the standard tier in a translation too", async () => {
    await ask({ surface: RESPONSES, model: "hurried" }, tier("default"), {});
    expect(bodyOf().service_tier).toBe("default");
    await ask({ surface: RESPONSES, model: "hurried" }, {}, {});
    expect(bodyOf()).not.toHaveProperty("service_tier");
  });

  test("answers a key without that tier only where the request excludes it", async () => {
    const { secret } = await gateway.newKey({ tiers: [] });
    await expectError(await post(gateway, CHAT, { model: "hurried", secret }), CHAT, "tier_not_allowed");
    const standard = await post(gateway, CHAT, { model: "hurried", secret, service_tier: "default" });
    expect(standard.status).toBe(200);
    await standard.text();
  });
});

describe("a tier without a price", () => {
  test.each<[way: Way, body: object, path: string]>([
    [{ surface: CHAT, model: "plain" }, tier("priority"), "service_tier"],
    [{ surface: RESPONSES, model: "plain" }, tier("flex"), "service_tier"],
    [{ surface: CHAT, model: "chat" }, tier("ultrafast"), "service_tier"],
    [{ surface: MESSAGES, model: "plain-claude" }, { speed: "fast" }, "speed"],
    [{ surface: MESSAGES, model: "plain-claude" }, { inference_geo: "us" }, "inference_geo"],
    // A price alone does not help where the upstream cannot be asked for the tier.
    [{ surface: MESSAGES, model: "chat" }, { speed: "fast" }, "speed"],
    [{ surface: CHAT, model: "claude" }, tier("priority"), "service_tier"],
    [{ surface: MESSAGES, model: "claude" }, tier("flex"), "service_tier"],
  ])("is refused: %j asks for %j", async ({ surface, model }, body, path) => {
    const response = await post(gateway, surface, { model, max_tokens: 50, ...body });
    expect(response.status).toBeOneOf([400, 422]);
    expect(await response.text()).toContain(`no price here: ${path}`);
    expect(gateway.upstream.seen).toEqual([]);
  });

  test("leaves the route out where another one has it", async () => {
    gateway.upstream.on("second", servedAs(tier("priority")));
    const response = await post(gateway, CHAT, { model: "mixed", service_tier: "priority" });
    const receipt = await gateway.receiptOf(response);
    expect(receipt).toMatchObject({ captured: 50_000n, outcome: { upstream: "native", tier: "priority" } });
    const plain = await gateway.receiptOf(await post(gateway, CHAT, { model: "mixed" }));
    expect(plain.outcome?.upstream).toBe("scripted-openai");
  });

  test("is as harmless as ever when it is auto", async () => {
    const response = await post(gateway, CHAT, { model: "plain", service_tier: "auto" });
    expect(response.status).toBe(200);
  });
});

describe("a translated request", () => {
  test("is answered without a claim about its tier", async () => {
    const way = { surface: RESPONSES, model: "chat" };
    const asked = await objectOf(await ask(way, tier("priority"), tier("priority")));
    expect(asked.service_tier).toBeNull();
    expect((await objectOf(await ask(way, {}, {}))).service_tier).toBe("default");
  });

  test("asks in the upstream's own field, and the standard tier has none", async () => {
    await ask({ surface: RESPONSES, model: "chat" }, tier("fast"), {});
    expect(bodyOf().service_tier).toBe("priority");
    await ask({ surface: CHAT, model: "claude" }, tier("us"), { inference_geo: "us" });
    expect(bodyOf()).toMatchObject({ inference_geo: "us" });
    expect(bodyOf()).not.toHaveProperty("service_tier");
    await ask({ surface: MESSAGES, model: "chat" }, { ...tier("priority"), max_tokens: 50 }, {});
    expect(bodyOf().service_tier).toBe("priority");
    await ask({ surface: RESPONSES, model: "chat" }, tier("default"), {});
    expect(bodyOf()).not.toHaveProperty("service_tier");
  });
});

describe("a key that lists its tiers", () => {
  const way = (surface: Surface<string>, model: string, body: object, secret: string) =>
    post(gateway, surface, { model, max_tokens: 50, secret, ...body });

  test("may ask for those and for the standard one", async () => {
    const { secret } = await gateway.newKey({ tiers: ["flex"] });
    expect((await way(CHAT, "chat", tier("flex"), secret)).status).toBe(200);
    expect((await way(CHAT, "chat", {}, secret)).status).toBe(200);
    await expectError(await way(CHAT, "chat", tier("priority"), secret), CHAT, "tier_not_allowed");
    // The provider might choose the tier that the key may not have.
    await expectError(await way(CHAT, "chat", tier("auto"), secret), CHAT, "tier_not_allowed");
    expect((await way(CHAT, "plain", tier("auto"), secret)).status).toBe(200);
    await expectError(await way(MESSAGES, "claude", { speed: "fast" }, secret), MESSAGES, "tier_not_allowed");
  });

  test("gives no other tiers to the keys below it", async () => {
    const { secret } = await gateway.newKey({ tiers: ["flex"], allowsChildren: true });
    const make = (body: object) =>
      fetch(`${gateway.url}/v1/key/children`, {
        method: "POST",
        headers: { authorization: `Bearer ${secret}` },
        body: JSON.stringify({ name: "run", spending_limit_usd: "1", ...body }),
      });
    const child = await objectOf(await make({}));
    expect(child.tiers).toEqual(["flex"]);
    const below = String(child.secret);
    expect((await way(CHAT, "chat", tier("flex"), below)).status).toBe(200);
    await expectError(await way(CHAT, "chat", tier("priority"), below), CHAT, "tier_not_allowed");
    const none = await objectOf(await make({ tiers: [] }));
    await expectError(await way(CHAT, "chat", tier("flex"), String(none.secret)), CHAT, "tier_not_allowed");
    expect((await make({ tiers: ["priority"] })).status).toBe(422);
    expect((await make({ tiers: ["gold"] })).status).toBe(422);
  });
});

describe("a hostile body", () => {
  const raw = (surface: Surface<string>, text: string) => post(gateway, surface, { raw: text });
  const messages = '"messages":[{"role":"user","content":"hi"}]';

  test("that repeats the field is held, sent and charged by the value that was read", async () => {
    const text = `{"model":"chat","service_tier":"priority",${messages},"service_tier":"flex"}`;
    gateway.upstream.on("chat", servedAs({}));
    const receipt = await gateway.receiptOf(await raw(CHAT, text));
    expect(gateway.upstream.seen.at(-1)?.bodyText.match(/service_tier":"\w+/g)).toEqual([
      'service_tier":"flex',
    ]);
    expect(receipt).toMatchObject({ captured: 12_500n, outcome: { tier: "flex" } });
  });

  test.each([
    [CHAT, `{"model":"chat",${messages},"Service_Tier":"priority"}`],
    [CHAT, `{"model":"chat",${messages},"extra_body":{"service_tier":"priority"}}`],
    [CHAT, `{"model":"chat",${messages},"service_tier":{"type":"priority"}}`],
    [CHAT, `{"model":"chat",${messages},"service_tier":"__proto__"}`],
    [MESSAGES, `{"model":"claude","max_tokens":9,${messages},"SPEED":"fast"}`],
    [MESSAGES, `{"model":"claude","max_tokens":9,${messages},"extra_body":{"speed":"fast"}}`],
    [RESPONSES, '{"model":"native","input":"hi","service_tier":"flex","service_tier":"priority"}'],
  ])("on %j is refused: %s", async (surface, text) => {
    expect((await raw(surface, text)).status).toBeOneOf([400, 422]);
    expect(gateway.upstream.seen).toEqual([]);
  });
});

test("models and receipts show the prices of tiers, and metrics count them", async () => {
  const headers = { authorization: `Bearer ${gateway.secret}` };
  const model = await objectOf(await fetch(`${gateway.url}/v1/models/chat`, { headers }));
  expect(model.tier_prices_usd_per_million_tokens).toMatchObject({ priority: { input: "2.00" } });
  const plain = await objectOf(await fetch(`${gateway.url}/v1/models/plain`, { headers }));
  expect(plain).not.toHaveProperty("tier_prices_usd_per_million_tokens");
  const response = await ask({ surface: CHAT, model: "chat" }, tier("priority"), tier("priority"));
  const id = response.headers.get("x-request-id");
  const receipt = await objectOf(await fetch(`${gateway.url}/v1/receipts/${id}`, { headers }));
  expect(receipt).toMatchObject({ tier: "priority", price_usd_per_million_tokens: { output: "4.00" } });
});

test("the SDKs pass tiers both ways", async () => {
  const options = { apiKey: gateway.secret, maxRetries: 0 };
  const openai = new OpenAI({ ...options, baseURL: `${gateway.url}/v1` });
  const anthropic = new Anthropic({ ...options, baseURL: gateway.url });
  const messages = [{ role: "user" as const, content: "hi" }];
  gateway.upstream.on("chat", servedAs(tier("default")));
  const chat = await openai.chat.completions.create({ model: "chat", messages, service_tier: "priority" });
  expect(chat.service_tier).toBe("default");
  gateway.upstream.on("native", servedAs(tier("flex")));
  const response = await openai.responses.create({ model: "native", input: "hi", service_tier: "flex" });
  expect(response.service_tier).toBe("flex");
  gateway.upstream.on("claude", servedAs({ service_tier: "standard", speed: "fast" }));
  const asked = { model: "claude", max_tokens: 50, messages, speed: "fast" as const };
  const message = await anthropic.messages.create(asked);
  expect(message.usage).toMatchObject({ service_tier: "standard", speed: "fast" });
  expect(bodyOf().speed).toBe("fast");
});
