import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { DEMO_MODEL } from "../../src/demo/demo-model.ts";
import { type Cause, ERRORS } from "../../src/errors.ts";
import { createCanaries } from "../support/canaries.ts";
import { CHAT, MESSAGES, objectOf, post, windowOf } from "../support/client.ts";
import { expectError, expectRequestIds } from "../support/expect-error.ts";
import { type Answer, answer, resetAtOnce, silence } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import {
  scriptedModel,
  scriptedRoute,
  scriptedUpstream,
  scriptedUpstreams,
} from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const PATH = "/v1/messages/count_tokens";
const HASTY = { connectMs: 5_000, firstOutputMs: 100, idleMs: 100, totalMs: 100 };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    models: [
      DEMO_MODEL,
      scriptedModel("chat", "openai"),
      scriptedModel("claude", "anthropic", { routes: [scriptedRoute("scripted-anthropic", "theirs")] }),
      scriptedModel("mixed", "openai", {
        routes: [scriptedRoute("scripted-openai", "chat"), scriptedRoute("scripted-anthropic", "theirs")],
      }),
      scriptedModel("slow", "anthropic", { routes: [scriptedRoute("hasty", "slow")] }),
      scriptedModel("fragile", "anthropic", { routes: [scriptedRoute("fragile", "fragile")] }),
      scriptedModel("vectors", "openai", { outputTokensMax: 0, outputTokensDefault: 0 }),
    ],
    upstreams: (scripted) => [
      ...scriptedUpstreams(scripted),
      scriptedUpstream("hasty", "anthropic", { baseUrl: scripted.anthropicUrl, timeouts: HASTY }),
      scriptedUpstream("fragile", "anthropic", { baseUrl: scripted.anthropicUrl, circuitFailures: 1 }),
    ],
  });
});
beforeEach(() => {
  gateway.upstream.reset();
  gateway.upstream.on("theirs", answer({ body: '{"input_tokens":4242}' }));
});
afterAll(() => gateway.stop());

interface Options extends Readonly<Record<string, unknown>> {
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly raw?: BodyInit;
  readonly signal?: AbortSignal;
  readonly query?: string;
}

function count(options: Options = {}): Promise<Response> {
  const { secret = gateway.secret, headers, raw, signal = null, query = "", ...members } = options;
  return fetch(`${gateway.url}${PATH}${query}`, {
    method: "POST",
    headers: { "x-api-key": secret, ...headers },
    body: raw ?? JSON.stringify(MESSAGES.body(members)),
    signal,
  });
}

async function tokensOf(response: Response): Promise<number> {
  expect(response.status).toBe(200);
  expectRequestIds(response);
  const body = await objectOf(response);
  expect(Object.keys(body)).toEqual(["input_tokens"]);
  expect(body.input_tokens).toBeNumber();
  return Number(body.input_tokens);
}

const sdk = () => new Anthropic({ baseURL: gateway.url, apiKey: gateway.secret, maxRetries: 0 });
const messages = [{ role: "user" as const, content: "Say hello." }];
const seen = () => gateway.upstream.seen;

describe("case 73: the Anthropic SDK", () => {
  test("gets the count of the upstream", async () => {
    expect(await sdk().messages.countTokens({ model: "claude", messages })).toEqual({ input_tokens: 4242 });
    expect(seen().map(({ target }) => target)).toEqual([PATH]);
    expect(JSON.parse(seen()[0]?.bodyText ?? "")).toEqual({ model: "theirs", messages });
  });

  test("gets a local count when no upstream of the model can count", async () => {
    const few = await sdk().messages.countTokens({ model: "chat", messages });
    const system = "You are a helpful assistant who says hello to everybody.";
    const more = await sdk().messages.countTokens({ model: "chat", messages, system });
    expect(few.input_tokens).toBeWithin(1, 20);
    expect(more.input_tokens).toBeWithin(few.input_tokens + 5, few.input_tokens + 40);
    expect(seen()).toBeEmpty();
  });

  test("gets the count that the demo model bills", async () => {
    const demo = { model: "demo", messages, system: "Be brief." };
    const { usage } = await sdk().messages.create({ ...demo, max_tokens: 5 });
    expect(await sdk().messages.countTokens(demo)).toEqual({ input_tokens: usage.input_tokens });
  });
});

describe("a count by the upstream", () => {
  test("sends the body unchanged, with the client's version, betas and query", async () => {
    const raw = (model: string) =>
      `{ "messages":[{"role":"user","content":"caf\\u00e9 \\/"},{"role":"system","content":"mid"}], "model" : "${model}","thinking":{"type":"adaptive"},"x":1.0 }`;
    const headers = { "anthropic-version": "2026-10-21", "anthropic-beta": "a-1,b-2", cookie: "a=b" };
    expect(await tokensOf(await count({ raw: raw("claude"), headers, query: "?beta=true" }))).toBe(4242);
    const [asked] = seen();
    expect(asked).toMatchObject({ target: `${PATH}?beta=true`, bodyText: raw("theirs") });
    expect(asked?.headers).toMatchObject({
      "anthropic-version": "2026-10-21",
      "anthropic-beta": "a-1,b-2",
      "x-api-key": "provider-secret",
    });
    expect(JSON.stringify(asked?.headers)).not.toContain(gateway.secret);
    expect(asked?.headers).not.toHaveProperty("cookie");
  });

  test("is made when only one route supports it, with a default version when the client names none", async () => {
    expect(await tokensOf(await count({ model: "mixed" }))).toBe(4242);
    expect(seen().map(({ headers }) => headers["anthropic-version"])).toEqual(["2023-06-01"]);
  });

  test("is cancelled when the client disconnects", async () => {
    gateway.upstream.on("theirs", silence);
    const controller = new AbortController();
    const running = count({ signal: controller.signal }).catch(() => undefined);
    await gateway.upstream.waitForSeen(1);
    controller.abort();
    await running;
    await seen()[0]?.over;
    expect(seen()[0]?.disconnectedAtMs).toBeNumber();
  });
});

describe("a local count", () => {
  const secrets = createCanaries();
  const sends = (body: string, more: Partial<Answer> = {}) => answer({ ...more, body });

  test.each([
    ["rejects the request", answer(secrets.refusal(400))],
    [
      "finds the prompt too long",
      sends('{"type":"error","error":{"message":"prompt is too long: 212384 tokens > 200000 maximum"}}', {
        status: 400,
      }),
    ],
    ["rejects the gateway's key", answer(secrets.refusal(401))],
    ["does not know the path", answer(secrets.refusal(404))],
    ["is busy", answer(secrets.refusal(429))],
    ["fails", answer(secrets.refusal(529))],
    ["redirects the call", answer({ ...secrets.refusal(307), headers: { location: "/elsewhere" } })],
    ["resets the connection", resetAtOnce],
    ["sends HTML", sends(`<h1>${secrets.next("html")}</h1>`)],
    ["sends nothing", sends("")],
    ["breaks off", sends('{"input_tokens":42', { claimedLength: 99, end: "close" })],
    ["sends no number", sends(`{"input_tokens":"${secrets.next("word")}"}`)],
    ["sends a negative number", sends('{"input_tokens":-5}')],
    ["sends a fraction of a token", sends('{"input_tokens":5.5}')],
    ["sends an absurd number", sends('{"input_tokens":1e99}')],
    ["sends too many bytes", sends(`{"input_tokens":5,"x":"${"x".repeat(100_000)}"}`)],
    ["answers the message", answerWith()],
  ])("replaces that of an upstream that %s", async (_, script) => {
    gateway.upstream.on("theirs", script);
    const response = await count();
    const text = JSON.stringify([...response.headers]) + (await response.clone().text());
    expect(await tokensOf(response)).toBeWithin(1, 20);
    expect(seen()).not.toBeEmpty();
    secrets.expectNone(text);
    secrets.expectNone(gateway.log.text());
  });

  test("replaces that of an upstream that exceeds its timeout", async () => {
    gateway.upstream.on("slow", silence);
    const response = await count({ model: "slow" });
    expect(await tokensOf(response)).toBeWithin(1, 20);
    const lines = gateway.log.about(response.headers.get("x-request-id") ?? "");
    expect(lines).toContainEqual(expect.objectContaining({ event: "count failed", timeout: "total" }));
  });

  test("counts an image as the tokens of its hold", async () => {
    const source = { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=".repeat(1_000) };
    const content = [
      { type: "image", source },
      { type: "text", text: "What is it?" },
    ];
    const tokens = await tokensOf(await count({ model: "chat", messages: [{ role: "user", content }] }));
    expect(tokens).toBeWithin(2_001, 2_030);
  });

  test("handles megabytes", async () => {
    const content = "word ".repeat(1_000_000);
    expect(await tokensOf(await count({ model: "chat", messages: [{ role: "user", content }] }))).toBeWithin(
      1_000_000,
      1_300_000,
    );
  });
});

describe("the circuit of an upstream", () => {
  test("is not opened by a failed count, and an open circuit permits no count", async () => {
    const opened = () => gateway.log.text().split('"circuit opened"').length - 1;
    gateway.upstream.on("fragile", answer({ status: 500, body: "" }));
    for (let left = 3; left > 0; left--) await tokensOf(await count({ model: "fragile" }));
    expect([seen().length, opened()]).toEqual([3, 0]);
    expect((await post(gateway, MESSAGES, { model: "fragile" })).status).toBe(502);
    expect([seen().length, opened()]).toEqual([4, 1]);
    expect(await tokensOf(await count({ model: "fragile" }))).toBeWithin(1, 20);
    expect(seen()).toHaveLength(4);
  });
});

describe("a count", () => {
  test("is free, takes no hold and leaves no receipt", async () => {
    const { secret, key } = await gateway.newPayer("0");
    const response = await count({ secret });
    expect(await tokensOf(response)).toBe(4242);
    expect(response.headers.has("x-tollgate-cost-usd")).toBe(false);
    await expect(gateway.receiptOf(response, key.accountId)).rejects.toThrow("no receipt");
    expect(await gateway.balances(key.accountId)).toMatchObject({ posted: 0n, held: 0n });
  });

  test("counts towards requests per minute, not tokens per minute", async () => {
    const { secret } = await gateway.newKey({ limits: { requestsPerMinute: 2, tokensPerMinute: 10 } });
    const response = await count({ secret });
    expect(windowOf(response, MESSAGES, "requests")).toMatchObject({ limit: 2, remaining: 1 });
    expect(windowOf(response, MESSAGES, "tokens")).toMatchObject({ limit: 10, remaining: 10 });
    expect((await count({ secret })).status).toBe(200);
    await expectError(await count({ secret }), MESSAGES, "rate_limited");
    expect(seen()).toHaveLength(2);
  });

  test("occupies a concurrency slot and releases it before the response", async () => {
    const { secret } = await gateway.newKey({ limits: { concurrentRequests: 1 } });
    for (let left = 5; left > 0; left--) expect((await count({ secret })).status).toBe(200);
    const none = await gateway.newKey({ limits: { concurrentRequests: 0 } });
    await expectError(await count({ secret: none.secret }), MESSAGES, "too_concurrent");
  });

  test("is logged like any other request", async () => {
    const response = await count();
    const id = response.headers.get("x-request-id") ?? "";
    await response.text();
    expect(gateway.log.about(id)).toEqual([
      expect.objectContaining({
        event: "request",
        surface: "count_tokens",
        model: "claude",
        status: 200,
        outcome: "ok",
        accountId: gateway.accountId,
      }),
    ]);
  });

  const shape = (path: string) => `${ERRORS.wrong_shape.message.replace(/\.$/, "")}: ${path}`;
  type Wrong = [what: string, arrange: () => Options | Promise<Options>, cause: Cause, message?: string];

  test.each<Wrong>([
    ["no JSON", () => ({ raw: "{" }), "not_json"],
    ["no object", () => ({ raw: "[]" }), "wrong_shape"],
    ["no messages", () => ({ messages: [] }), "wrong_shape", shape("messages")],
    ["no model", () => ({ model: undefined }), "wrong_shape", shape("model")],
    ["an unknown model", () => ({ model: "nobody" }), "unknown_model"],
    ["a model that only embeds", () => ({ model: "vectors" }), "not_built"],
    ["an unknown key", () => ({ secret: "sk-tg-unknown" }), "unknown_key"],
    ["an empty key", () => ({ secret: "" }), "unknown_key"],
    [
      "a model that its key may not use",
      async () => ({ secret: (await gateway.newKey({ models: ["other"] })).secret }),
      "model_not_allowed",
    ],
  ])("with %s is rejected", async (...[, arrange, cause, message]: Wrong) => {
    const response = await count(await arrange());
    await expectError(response, MESSAGES, cause, message === undefined ? {} : { message });
    expect(seen()).toBeEmpty();
  });

  test("is accepted only with POST at its own path", async () => {
    await expectError(await fetch(`${gateway.url}${PATH}`), MESSAGES, "unknown_route");
    const chat = await fetch(`${gateway.url}/v1/chat/completions/count_tokens`, { method: "POST" });
    await expectError(chat, CHAT, "not_built");
  });
});
