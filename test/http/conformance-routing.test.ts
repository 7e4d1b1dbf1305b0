import { afterAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { DEMO_MODEL } from "../../src/demo/demo-model.ts";
import { ERRORS, type ErrorRow, GatewayError } from "../../src/errors.ts";
import { errorResponse, errorWire } from "../../src/http/errors.ts";
import { pathOf } from "../../src/http/identity.ts";
import { createCanaries } from "../support/canaries.ts";
import { CHAT, MESSAGES, objectOf, post, SURFACES } from "../support/client.ts";
import { createCountingFetch, rejectionOf } from "../support/counting-fetch.ts";
import { expectError, expectRequestIds } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer } from "../support/script.ts";
import { answerWith, EVENT_STREAM, frame } from "../support/scripted-answers.ts";
import { scriptedModel } from "../support/test-catalog.ts";

// Conformance cases of authentication, routing and envelopes that no other test covers.

const models = [scriptedModel("chat", "openai"), scriptedModel("claude", "anthropic"), DEMO_MODEL];
const gateway = gatewayForTests({ models });

const openai = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret, maxRetries: 0 });
const anthropic = () => new Anthropic({ baseURL: gateway.url, apiKey: gateway.secret, maxRetries: 0 });
const messages = [{ role: "user" as const, content: "Say hello." }];

/** Sends the default request with only these headers. */
function postWith(surface: (typeof SURFACES)[number], headers: Record<string, string>, query = "") {
  const body = JSON.stringify(surface.body());
  return fetch(`${gateway.url}${surface.path}${query}`, { method: "POST", headers, body });
}

describe.each(SURFACES)("on $path", (surface) => {
  test("case 1: the bearer token counts when both key headers differ", async () => {
    const { secret } = gateway;
    const good = await postWith(surface, { authorization: `Bearer ${secret}`, "x-api-key": "sk-tg-wrong" });
    expect(good.status).toBe(200);
    const bad = await postWith(surface, { authorization: "Bearer sk-tg-wrong", "x-api-key": secret });
    await expectError(bad, surface, "unknown_key");
  });

  test("case 1: an authorization header without a bearer token does not hide x-api-key", async () => {
    for (const authorization of ["Bearer", "Bearer ", "Basic abc", ""]) {
      const response = await postWith(surface, { authorization, "x-api-key": gateway.secret });
      expect([authorization, response.status]).toEqual([authorization, 200]);
    }
  });

  test.each(["Bearer", "Bearer   ", "bearer", "Token sk-tg-1", "Bearer sk-tg 1", "Bearer,sk-tg-1"])(
    "case 2: %p is rejected with unknown_key in the envelope of the surface",
    async (authorization) =>
      await expectError(await postWith(surface, { authorization }), surface, "unknown_key"),
  );

  test("case 2: a bearer token is accepted in any case and with extra white space", async () => {
    for (const scheme of ["bearer ", "BEARER\t", "Bearer    "]) {
      const response = await postWith(surface, { authorization: `${scheme}${gateway.secret}  ` });
      expect([scheme, response.status]).toEqual([scheme, 200]);
    }
  });

  test.each(["2023-06-01", "2026-10-21", "1999-01-01", "tomorrow", ""])(
    "case 3: the anthropic-version %p is accepted",
    async (version) => {
      const headers = { "x-api-key": gateway.secret, "anthropic-version": version };
      expect((await postWith(surface, headers)).status).toBe(200);
    },
  );

  test.each(["?beta=true", "?beta=true&x=1", "?"])(
    "case 4: the query %p does not change the route",
    async (query) => {
      const response = await postWith(surface, { "x-api-key": gateway.secret }, query);
      expect(response.status).toBe(200);
      expect((await objectOf(response)).model).toBe(surface.model);
    },
  );

  test("case 24: a successful answer carries no header of the upstream", async () => {
    const secrets = createCanaries();
    const { headers = {} } = secrets.refusal(200);
    const more = { ...headers, "x-ratelimit-reset-tokens": secrets.next("reset"), "content-language": "xx" };
    for (const stream of [false, true]) {
      gateway.upstream.on(surface.model, answerWith(undefined, { headers: more, gzip: !stream }));
      const response = await post(gateway, surface, { stream });
      expect(response.status).toBe(200);
      secrets.expectNone(JSON.stringify([...response.headers]) + (await response.text()));
      for (const name of ["set-cookie", "content-encoding", "content-language", "retry-after", "via"]) {
        expect([name, response.headers.get(name)]).toEqual([name, null]);
      }
    }
  });

  test("case 25: an empty upstream answer is an error, not a 200", async () => {
    const isChat = surface === CHAT;
    const empty = isChat
      ? { id: "c", object: "chat.completion", model: "m", choices: [] }
      : { id: "m", type: "message", role: "assistant", model: "m", content: [], stop_reason: null };
    gateway.upstream.on(surface.model, answer({ body: JSON.stringify(empty) }));
    await expectError(await post(gateway, surface), surface, "upstream_unavailable");
    const nothing = frame(isChat ? "openai" : "anthropic", []);
    gateway.upstream.on(surface.model, answer({ headers: EVENT_STREAM, body: nothing }));
    await expectError(await post(gateway, surface, { stream: true }), surface, "upstream_unavailable");
  });

  test("case 26: unknown fields are accepted and forwarded", async () => {
    const fields = {
      store: true,
      prompt_cache_key: "k",
      context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
      safeguards: { level: "high" },
      thread: { id: "t" },
      metadata: { user_id: '{"a":1}' },
    };
    expect((await post(gateway, surface, fields)).status).toBe(200);
    expect(JSON.parse(gateway.upstream.seen.at(-1)?.bodyText ?? "")).toMatchObject(fields);
  });

  test("case 75: a client retry is a normal request, and the log records its number", async () => {
    const ids: string[] = [];
    for (const count of ["0", "1", "2", "-1", "many", "1e9", "99999"]) {
      const response = await post(gateway, surface, { headers: { "x-stainless-retry-count": count } });
      expect(response.status).toBe(200);
      ids.push(expectRequestIds(response));
      await response.text();
    }
    expect(gateway.upstream.seen).toHaveLength(7);
    for (const id of ids) expect((await gateway.receiptOf(id)).captured).toBe(25_000n);
    const retries = ids.map((id) => gateway.log.about(id)[0]?.clientRetry);
    expect(retries).toEqual([undefined, 1, 2, undefined, undefined, undefined, undefined]);
  });
});

describe("case 5: a probe without a key", () => {
  test.each(["GET", "HEAD"])("with %s / is answered", async (method) => {
    const response = await fetch(gateway.url, { method });
    expect([200, 204, 404]).toContain(response.status);
  });
});

describe("case 6: the list of models", () => {
  test("is read to its end by both SDKs, with the fields of each", async () => {
    const ids = ["chat", "claude", "demo"];
    const ours = await Array.fromAsync(anthropic().models.list({ limit: 1_000 }));
    expect(ours.map(({ id, type, display_name }) => ({ id, type, display_name }))).toEqual(
      ids.map((id) => ({ id, type: "model", display_name: id })),
    );
    const theirs = await Array.fromAsync(await openai().models.list());
    expect(theirs.map(({ id, object }) => ({ id, object }))).toEqual(
      ids.map((id) => ({ id, object: "model" })),
    );
  });
});

describe("case 9: request ids", () => {
  const ROUTES = [
    ["GET", "/v1/models", undefined],
    ["GET", "/v1/models/nobody", undefined],
    ["GET", "/v1/key", undefined],
    ["GET", "/v1/receipts/nothing", undefined],
    ["GET", "/v1/nothing", undefined],
    ["GET", "/healthz", undefined],
    ["POST", "/v1/files", "x"],
    ["POST", CHAT.path, CHAT.body({ stream: true })],
    ["POST", MESSAGES.path, MESSAGES.body({ stream: true })],
    ["POST", "/v1/messages/count_tokens", MESSAGES.body()],
    ["POST", "/v1/messages/count_tokens", {}],
    ["POST", "/v1/embeddings", { model: "demo", input: "a" }],
    ["POST", "/v1/embeddings", {}],
  ] as const;

  test.each(ROUTES)("are in both headers of %s %s, row %#", async (method, path, body) => {
    const init = { method, body: body === undefined ? null : JSON.stringify(body) };
    const response = await fetch(gateway.url + path, { ...init, headers: { "x-api-key": gateway.secret } });
    expectRequestIds(response);
    await response.body?.cancel();
  });

  test("of a stream are read by both SDKs", async () => {
    const chat = await openai()
      .chat.completions.create({ model: "chat", messages, stream: true })
      .withResponse();
    const message = await anthropic()
      .messages.create({ model: "claude", messages, max_tokens: 100, stream: true })
      .withResponse();
    for (const { request_id: id, response, data } of [chat, message]) {
      expect(id ?? "none").toBe(expectRequestIds(response));
      await Array.fromAsync(data as AsyncIterable<unknown>);
      expect((await gateway.receiptOf(id ?? "")).state).toBe("settled");
    }
  });

  test("of an error are read by both SDKs, and are also in the body of messages", async () => {
    const chat = await rejectionOf(openai().chat.completions.create({ model: "nobody", messages }));
    expect(chat).toMatchObject({ requestID: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    const message = await rejectionOf(
      anthropic().messages.create({ model: "nobody", messages, max_tokens: 100 }),
    );
    if (!(message instanceof Anthropic.APIError)) throw new Error("Not an APIError", { cause: message });
    expect(message.requestID).toMatch(/^[0-9a-f-]{36}$/);
    expect(message.error).toMatchObject({ request_id: message.requestID });
  });
});

describe("case 15: a conflict error", () => {
  // No model request causes a conflict, so that a server returns the error directly.
  const server = Bun.serve({
    port: 0,
    fetch: (request) =>
      errorResponse(new GatewayError("conflict"), errorWire(pathOf(request), request.headers), {
        requestId: Bun.randomUUIDv7(),
      }),
  });
  afterAll(() => server.stop(true));
  const apiKey = "any";
  const baseURL = server.url.origin;

  test("is not retried by the OpenAI SDK", async () => {
    const counting = createCountingFetch();
    const client = new OpenAI({ baseURL: `${baseURL}/v1`, apiKey, fetch: counting.fetch });
    const error = await rejectionOf(client.chat.completions.create({ model: "m", messages }));
    expect(error).toMatchObject({ status: 409, code: "conflict", type: "invalid_request_error" });
    expect(counting.posts).toBe(1);
  });

  test("is not retried by the Anthropic SDK", async () => {
    const counting = createCountingFetch();
    const client = new Anthropic({ baseURL, apiKey, fetch: counting.fetch });
    const error = await rejectionOf(client.messages.create({ model: "m", messages, max_tokens: 9 }));
    expect(error).toMatchObject({ status: 409, errorCode: "conflict", type: "conflict_error" });
    expect(counting.posts).toBe(1);
  });
});

describe("cases 16 to 18: the error table", () => {
  const rows: readonly ErrorRow[] = Object.values(ERRORS);
  const withStatus = (...statuses: number[]) =>
    rows.filter(({ chat: [status] }) => statuses.includes(status));

  test("case 16: marks 401, 402, 403, 404, 409, 413, 422 and 501 as not retryable", () => {
    const finals = withStatus(401, 402, 403, 404, 409, 413, 422, 501);
    expect(finals.length).toBeGreaterThan(10);
    expect(finals.filter(({ retry }) => retry)).toEqual([]);
  });

  test("case 17: has no 429 message with a word that makes LangChain give up", () => {
    const givesUp = /billing|credit balance|insufficient[_ -]?quota|usage quota|will reset at|quota/i;
    const throttled = withStatus(429);
    expect(throttled.length).toBeGreaterThan(1);
    for (const { message, retry } of throttled)
      expect([message, givesUp.test(message), retry]).toEqual([message, false, true]);
  });

  test("case 18: answers a used-up budget with 402 and no retry-after", async () => {
    const spendingLimit = { amount: 1n, period: "day" as const };
    const { secret } = await gateway.newPayer("1", { spendingLimit });
    for (const surface of SURFACES) {
      const refused = await post(gateway, surface, { secret });
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([402, null]);
    }
  });
});
