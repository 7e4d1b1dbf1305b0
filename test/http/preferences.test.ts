import { beforeEach, describe, expect, test } from "bun:test";
import { parsePrice } from "../../src/domain/money.ts";
import { CHAT, MESSAGES, post, RESPONSES } from "../support/client.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import {
  scriptedModel,
  scriptedRoute,
  scriptedUpstream,
  scriptedUpstreams,
  TEST_PRICE,
} from "../support/test-catalog.ts";

// By priority: "dear" keeps nothing, "cheap" and "scripted-openai" may keep something.
const dear = { ...TEST_PRICE, input: parsePrice("10.00"), output: parsePrice("20.00") };
const long = { ...TEST_PRICE, input: parsePrice("9.00") };
const routes = [
  scriptedRoute("dear", "dear-model", { price: dear, retention: "none" }),
  scriptedRoute("cheap", "cheap-model", { priority: 2, longPrice: long }),
  scriptedRoute("scripted-openai", "last-model", { priority: 3 }),
];
const longContext = { contextWindow: undefined, aboveInputTokens: 10_000 };
const gateway = gatewayForTests({
  models: [
    scriptedModel("chat", "openai", { routes, longContext }),
    scriptedModel("claude", "anthropic", {
      routes: [
        scriptedRoute("scripted-anthropic", "claude"),
        scriptedRoute("cheap", "cheap-model", { priority: 2 }),
      ],
    }),
  ],
  upstreams: (scripted) => [
    ...scriptedUpstreams(scripted),
    scriptedUpstream("dear", "openai", { baseUrl: scripted.openaiUrl }),
    scriptedUpstream("cheap", "openai", { baseUrl: scripted.openaiUrl }),
  ],
});

beforeEach(() => {
  for (const model of ["dear-model", "cheap-model", "last-model", "claude"])
    gateway.upstream.on(model, answerWith());
});
const called = () => gateway.upstream.seen.map(({ model }) => model);

describe("a request goes only to routes within its bounds", () => {
  test.each<[headers: Readonly<Record<string, string>>, model: string]>([
    [{}, "dear-model"],
    [{ "x-tollgate-upstreams": "cheap" }, "cheap-model"],
    [{ "x-tollgate-upstreams": "scripted-openai, nothing" }, "last-model"],
    [{ "x-tollgate-not-upstreams": "dear,cheap" }, "last-model"],
    [{ "x-tollgate-max-price-input-usd": "1.00" }, "cheap-model"],
    [{ "x-tollgate-max-price-output-usd": "19.999999" }, "cheap-model"],
    [{ "x-tollgate-max-price-input-usd": "10" }, "dear-model"],
    [{ "x-tollgate-retention": "none" }, "dear-model"],
  ])("%p takes %p", async (headers, model) => {
    const response = await post(gateway, CHAT, { headers });
    expect(response.status).toBe(200);
    expect(called()).toEqual([model]);
    const sent = Object.keys(gateway.upstream.seen[0]?.headers ?? {});
    expect(sent.filter((name) => name.startsWith("x-tollgate"))).toEqual([]);
  });

  test("a prompt that may be long is bound by the price of long prompts", async () => {
    const headers = { "x-tollgate-max-price-input-usd": "1.00" };
    const messages = [{ role: "user", content: "word ".repeat(5_000) }];
    await post(gateway, CHAT, { headers, messages });
    expect(called()).toEqual(["last-model"]);
  });

  test("no failure makes a request leave them", async () => {
    gateway.upstream.on("cheap-model", answer({ status: 500, body: "{}" }));
    const response = await post(gateway, CHAT, { headers: { "x-tollgate-upstreams": "cheap" } });
    expect(response.status).toBe(502);
    expect(called()).toEqual(["cheap-model"]);
  });
});

describe("a request whose bounds leave no route is 400, nothing held", () => {
  const nothing = { "x-tollgate-not-upstreams": "dear, cheap, scripted-openai, scripted-anthropic" };

  test.each([CHAT, MESSAGES, RESPONSES])("on $path", async (surface) => {
    const response = await post(gateway, surface, { headers: nothing, max_tokens: 9, store: false });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("No route of this model is within the bounds");
    expect(called()).toEqual([]);
    await gateway.nothingIsHeld();
  });

  test("in the same words for an upstream that exists, and for one that does not", async () => {
    const texts: string[] = [];
    for (const name of ["scripted-anthropic", "nothing"]) {
      const response = await post(gateway, CHAT, { headers: { "x-tollgate-upstreams": name } });
      texts.push(`${response.status} ${(await response.text()).replaceAll(/[\da-f-]{36}/g, "id")}`);
    }
    expect(texts[0]).toBe(texts[1] ?? "");
  });
});

test.each<[header: string, value: string]>([
  ["x-tollgate-upstreams", ""],
  ["x-tollgate-upstreams", "a,,b"],
  ["x-tollgate-not-upstreams", Array.from({ length: 33 }, () => "a").join(",")],
  ["x-tollgate-max-price-input-usd", "-1"],
  ["x-tollgate-max-price-output-usd", "1e9"],
  ["x-tollgate-retention", "some"],
])("the header %s: %s is refused by its name", async (header, value) => {
  for (const path of ["/v1/chat/completions", "/v1/messages/count_tokens"]) {
    const response = await fetch(gateway.url + path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${gateway.secret}`,
        "content-type": "application/json",
        [header]: value,
      },
      body: JSON.stringify({ model: "claude", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] }),
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(header);
  }
  expect(called()).toEqual([]);
});

test("a count of tokens is asked of no upstream outside the bounds", async () => {
  const response = await fetch(`${gateway.url}/v1/messages/count_tokens`, {
    method: "POST",
    headers: {
      ...{ authorization: `Bearer ${gateway.secret}`, "content-type": "application/json" },
      "x-tollgate-retention": "none",
    },
    body: JSON.stringify({ model: "claude", messages: [{ role: "user", content: "Say hello." }] }),
  });
  expect(response.status).toBe(200);
  expect(called()).toEqual([]);
});
