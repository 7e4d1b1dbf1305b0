import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { LiveConfig } from "../../src/config/config.ts";
import type { Model } from "../../src/domain/model.ts";
import type { KeyConfig, UpstreamConfig } from "../../src/upstream/upstream.ts";
import { CHAT, post } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { answer, gate, type Script } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";
import { until } from "../support/until.ts";

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startTestGateway({ models: [chatOn("pool")], upstreams: () => [] });
});
afterEach(() => gateway.stop());

function chatOn(...upstreams: string[]): Model {
  const routes = upstreams.map((name, priority) => scriptedRoute(name, "chat", { priority }));
  return scriptedModel("chat", "openai", { routes });
}

function key(label: string, more: Partial<KeyConfig> = {}): KeyConfig {
  return { label, apiKey: `secret-${label}`, weight: 1, limits: {}, ...more };
}

/** Applies a configuration with these upstreams. */
function applyUpstreams(upstreams: readonly UpstreamConfig[], models = [chatOn("pool")]): void {
  const limits = { keyLimits: {}, accountLimits: {} };
  const live: LiveConfig = { models, upstreams, ...limits, clientDisconnect: "charge_input", drainMs: 2_000 };
  gateway.tollgate.apply(live);
}

/** Applies a configuration whose upstream "pool" has these keys. */
function apply(
  keys: readonly KeyConfig[],
  { models, more = [] }: { models?: Model[]; more?: UpstreamConfig[] } = {},
): void {
  applyUpstreams([upstreamAt("pool", { apiKey: "", keys }), ...more], models);
}

function upstreamAt(name: string, more: Partial<UpstreamConfig> = {}): UpstreamConfig {
  return scriptedUpstream(name, "openai", { baseUrl: gateway.upstream.openaiUrl, ...more });
}

/** Answers each key by a script of its own, the others with a short text. */
function byKey(scripts: Readonly<Record<string, Script>>): Script {
  return (request) => {
    const label = labelOf(request.headers.authorization);
    return (scripts[label] ?? answerWith())(request);
  };
}

function labelOf(authorization: string | undefined): string {
  return (authorization ?? "").replace("Bearer secret-", "");
}

const seenKeys = () => gateway.upstream.seen.map(({ headers }) => labelOf(headers.authorization));
const refuses = (status: number, headers: Record<string, string> = {}): Script =>
  answer({ status, headers, body: "{}" });

async function attemptsOf(response: Response) {
  await response.text();
  return (await gateway.receiptOf(response)).outcome?.attempts;
}

describe("a key of a pool", () => {
  test("that answers 429 rests for its retry-after, while the other key answers the same request", async () => {
    apply([key("a", { weight: 1_000_000 }), key("b")]);
    gateway.upstream.on("chat", byKey({ a: refuses(429, { "retry-after": "30" }) }));
    const attempts = await attemptsOf(await post(gateway, CHAT));
    expect(attempts).toEqual([
      { upstream: "pool", key: "a", reason: "weight", status: 429, ms: expect.any(Number) },
      { upstream: "pool", key: "b", reason: "failover", status: 200, ms: expect.any(Number) },
    ]);
    for (let left = 5; left > 0; left--) expect((await post(gateway, CHAT)).status).toBe(200);
    expect(seenKeys()).toEqual(["a", "b", "b", "b", "b", "b", "b"]);
  });

  test.each([
    ["is huge", "999999999999"],
    ["is negative", "-60"],
    ["is a date of the past", "Thu, 01 Jan 1970 00:00:00 GMT"],
    ["is absent", ""],
  ])("is used again when all rest, also when its retry-after %s", async (_how, retryAfter) => {
    apply([key("a"), key("b")]);
    const headers: Record<string, string> = retryAfter ? { "retry-after": retryAfter } : {};
    gateway.upstream.on("chat", byKey({ a: refuses(429, headers), b: refuses(429, headers) }));
    const response = await post(gateway, CHAT);
    const seconds = Number(response.headers.get("retry-after") ?? 1);
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(60);
    await expectError(response, CHAT, "upstream_unavailable");
    gateway.upstream.on("chat", answerWith());
    expect((await post(gateway, CHAT)).status).toBe(200);
  });

  test("that is rejected rests at once for all requests, and the log names it without its secret", async () => {
    apply([key("a", { weight: 1_000_000 }), key("b")]);
    gateway.upstream.on("chat", byKey({ a: refuses(401) }));
    for (let left = 4; left > 0; left--) expect((await post(gateway, CHAT)).status).toBe(200);
    expect(seenKeys()).toEqual(["a", "b", "b", "b", "b"]);
    const line = gateway.log
      .text()
      .split("\n")
      .find((each) => each.includes("upstream rejected a key"));
    expect(JSON.parse(line ?? "{}")).toMatchObject({ upstream: "pool", key: "a" });
    expect(gateway.log.text()).not.toContain("secret-a");
  });

  test("that may not use one model still serves the other", async () => {
    const other = scriptedModel("other", "openai", { routes: [scriptedRoute("pool", "other")] });
    apply([key("a", { weight: 1_000_000 }), key("b")], { models: [chatOn("pool"), other] });
    const message = "Project p does not have access to model chat";
    const noAccess = answer({ status: 403, body: JSON.stringify({ error: { message } }) });
    gateway.upstream.on("chat", byKey({ a: noAccess }));
    for (let left = 2; left > 0; left--) await (await post(gateway, CHAT)).text();
    expect(seenKeys()).toEqual(["a", "b", "b"]);
    await (await post(gateway, CHAT, { model: "other" })).text();
    expect(seenKeys().at(-1)).toBe("a");
  });
});

test("half of the keys can be revoked while streams run: the streams end well, and no request fails", async () => {
  apply(["a", "b", "c", "d"].map((label) => key(label)));
  const { opened, open } = gate();
  gateway.upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 300, gate: opened } }));
  const streams = Array.from({ length: 12 }, () => post(gateway, CHAT, { stream: true }));
  await gateway.upstream.waitForSeen(12);
  const revoked = refuses(401);
  gateway.upstream.on("chat", byKey({ a: revoked, b: revoked }));
  const others = await Promise.all(Array.from({ length: 40 }, () => post(gateway, CHAT)));
  expect(new Set(others.map(({ status }) => status))).toEqual(new Set([200]));
  open();
  for (const stream of streams) expect(await (await stream).text()).toContain("[DONE]");
  gateway.upstream.reset();
  gateway.upstream.on("chat", byKey({ a: revoked, b: revoked }));
  for (let left = 10; left > 0; left--) expect((await post(gateway, CHAT)).status).toBe(200);
  expect(new Set(seenKeys())).toEqual(new Set(["c", "d"]));
});

describe("the bounds of a key", () => {
  test("send a request to the next route before it costs a 429", async () => {
    const models = [chatOn("pool", "next")];
    const more = [upstreamAt("next", { apiKey: "secret-next" })];
    apply([key("a", { limits: { requestsPerMinute: 1 } }), key("b", { limits: { requestsPerMinute: 1 } })], {
      models,
      more,
    });
    for (let left = 4; left > 0; left--) expect((await post(gateway, CHAT)).status).toBe(200);
    expect(seenKeys().toSorted()).toEqual(["a", "b", "next", "next"]);
  });

  test("answer 502 with retry-after when every key is full, and give the hold back", async () => {
    apply([key("a", { limits: { requestsPerMinute: 1 } }), key("b", { limits: { requestsPerMinute: 1 } })]);
    const startedAt = performance.now();
    for (let left = 2; left > 0; left--) expect((await post(gateway, CHAT)).status).toBe(200);
    const response = await post(gateway, CHAT);
    const elapsedS = (performance.now() - startedAt) / 1_000;
    expect(Number(response.headers.get("retry-after"))).toBeWithin(59 - elapsedS, 61);
    await expectError(response, CHAT, "upstream_unavailable");
    expect(gateway.upstream.seen).toHaveLength(2);
    await gateway.nothingIsHeld();
  });

  test("hold under concurrency: no key has more running requests than it admits", async () => {
    apply([key("a", { limits: { concurrentRequests: 2 } }), key("b", { limits: { concurrentRequests: 3 } })]);
    const { opened, open } = gate();
    gateway.upstream.on("chat", answerWith(undefined, { gate: opened }));
    const responses = Array.from({ length: 20 }, () => post(gateway, CHAT));
    let answered = 0;
    const counted = responses.map((each) =>
      each.then(({ status }) => {
        answered += 1;
        return status;
      }),
    );
    // A request that came later would get a slot of one that has ended.
    await until(() => answered === 15);
    open();
    const statuses = await Promise.all(counted);
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    expect(seenKeys().filter((label) => label === "a")).toHaveLength(2);
    expect((await post(gateway, CHAT)).status).toBe(200);
  });
});

describe("a rotation of keys", () => {
  test("under load fails no request: removed keys end theirs, kept ones keep their state", async () => {
    apply([key("old"), key("kept")]);
    gateway.upstream.on("chat", byKey({ kept: refuses(429, { "retry-after": "60" }) }));
    while (!seenKeys().includes("kept")) await (await post(gateway, CHAT)).text();
    const { opened, open } = gate();
    gateway.upstream.on("chat", answerWith(undefined, { gate: opened }));
    const running = Array.from({ length: 8 }, () => post(gateway, CHAT));
    const before = gateway.upstream.seen.length;
    await gateway.upstream.waitForSeen(before + 8);
    apply([key("kept"), key("new")]);
    gateway.upstream.on("chat", answerWith());
    const after = Array.from({ length: 8 }, () => post(gateway, CHAT));
    for (const each of after) expect((await each).status).toBe(200);
    expect(new Set(seenKeys().slice(-8))).toEqual(new Set(["new"]));
    open();
    for (const each of running) expect((await each).status).toBe(200);
  });

  test("warns of two labels that have one secret", () => {
    apply([key("a"), key("b", { apiKey: "secret-a" })]);
    const line = gateway.log
      .text()
      .split("\n")
      .find((each) => each.includes("have one secret"));
    expect(JSON.parse(line ?? "{}")).toMatchObject({ upstream: "pool", keys: ["a", "b"] });
    expect(line).not.toContain("secret-a");
  });
});

test("a host that refuses connections is tried with one key, then the next upstream is", async () => {
  const models = [chatOn("pool", "next")];
  const pool = upstreamAt("pool", {
    apiKey: "",
    keys: [key("a"), key("b")],
    baseUrl: "http://127.0.0.1:1/v1",
  });
  applyUpstreams([pool, upstreamAt("next")], models);
  const attempts = await attemptsOf(await post(gateway, CHAT));
  expect(attempts).toMatchObject([
    { upstream: "pool", status: 0, reason: "weight" },
    { upstream: "next", status: 200, reason: "failover" },
  ]);
});

test("the requests of a conversation stay on one key, and other conversations spread", async () => {
  apply(["a", "b", "c", "d"].map((label) => key(label)));
  const turn = (name: string, turns: number) => [
    { role: "system", content: "You are helpful. ".repeat(300) },
    { role: "user", content: `This is about ${name}.` },
    ...Array.from({ length: turns }, (_, at) => ({ role: at % 2 ? "user" : "assistant", content: `${at}` })),
  ];
  for (let turns = 0; turns < 20; turns += 1) {
    const response = await post(gateway, CHAT, { messages: turn("cats", turns) });
    expect((await attemptsOf(response))?.[0]).toMatchObject({ reason: "affinity" });
  }
  expect(new Set(seenKeys()).size).toBe(1);
  for (let index = 0; index < 20; index += 1) {
    await (await post(gateway, CHAT, { messages: turn(`topic ${index}`, 0) })).text();
  }
  expect(new Set(seenKeys().slice(-20)).size).toBeGreaterThan(2);
});

test("a request with one route and one key has neither key nor reason on its receipt", async () => {
  applyUpstreams([upstreamAt("sole")], [chatOn("sole")]);
  expect(await attemptsOf(await post(gateway, CHAT))).toEqual([
    { upstream: "sole", status: 200, ms: expect.any(Number) },
  ]);
});
