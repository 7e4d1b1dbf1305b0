import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import type { UpstreamConfig } from "../../src/upstream/upstream.ts";
import { addMember } from "../accounts/actors.ts";
import { CHAT, post } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { answer, type Script } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const CIRCUIT_FAILURES = 3;
let gateway: TestGateway;
/** A second account. */
let other: string;
beforeEach(async () => {
  const routes = ["cheap", "dear"].map((name, priority) => scriptedRoute(name, name, { priority }));
  gateway = await startTestGateway({
    models: [scriptedModel("chat", "openai", { routes })],
    upstreams: ({ openaiUrl: baseUrl }) => [
      upstream("cheap", { baseUrl, apiKey: "", keys: [{ label: "a", apiKey: "s", weight: 1, limits: {} }] }),
      upstream("dear", { baseUrl }),
    ],
  });
  gateway.upstream.on("dear", answerWith());
  ({ secret: other } = await gateway.newPayer("10"));
});
afterEach(() => gateway.stop());

function upstream(name: string, more: Partial<UpstreamConfig>): UpstreamConfig {
  return scriptedUpstream(name, "openai", { circuitFailures: CIRCUIT_FAILURES, ...more });
}

function refuses(status: number, message: string, headers: Record<string, string> = {}): Script {
  return answer({ status, headers, body: JSON.stringify({ error: { message } }) });
}

/** Returns which upstream answers a request of another account, whose content every upstream accepts. */
async function routeOfOthers(): Promise<string> {
  gateway.upstream.on("cheap", answerWith());
  const before = gateway.upstream.seen.length;
  expect((await post(gateway, CHAT, { secret: other })).status).toBe(200);
  const models = gateway.upstream.seen.slice(before).map(({ bodyText }) => JSON.parse(bodyText).model);
  return models.join();
}

describe("content that an upstream flags", () => {
  const FLAGGED = refuses(403, "Content violates usage guidelines. Team: t, API key ID: k");

  test("is an invalid request to its sender, once, and moves no other account to another route", async () => {
    gateway.upstream.on("cheap", FLAGGED);
    for (let left = 2 * CIRCUIT_FAILURES; left > 0; left -= 1) {
      const response = await post(gateway, CHAT);
      await expectError(response.clone(), CHAT, "rejected_by_upstream");
      expect((await gateway.receiptOf(response)).captured).toBe(0n);
    }
    expect(gateway.upstream.seen).toHaveLength(2 * CIRCUIT_FAILURES);
    expect(await routeOfOthers()).toBe("cheap");
  });

  test.each([false, true])("is the same when a 200 reports it, streamed: %p", async (stream) => {
    const error = { code: 403, message: "Your input was flagged for violence" };
    const text = JSON.stringify({ error, choices: [] });
    const body = stream ? `data: ${text}\n\n` : text;
    const headers = { "content-type": stream ? "text/event-stream" : "application/json" };
    gateway.upstream.on("cheap", answer({ headers, body }));
    for (let left = 2 * CIRCUIT_FAILURES; left > 0; left -= 1) {
      await expectError(await post(gateway, CHAT, { stream }), CHAT, "rejected_by_upstream");
    }
    expect(gateway.upstream.seen).toHaveLength(2 * CIRCUIT_FAILURES);
    expect(await routeOfOthers()).toBe("cheap");
  });

  test("is not repeated by an SDK", async () => {
    gateway.upstream.on("cheap", FLAGGED);
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret });
    const call = client.chat.completions.create({
      model: "chat",
      messages: [{ role: "user", content: "hi" }],
    });
    await expect(Promise.resolve(call)).rejects.toMatchObject({ status: 400, code: "invalid_request" });
    expect(gateway.upstream.seen).toHaveLength(1);
  });
});

describe("a request that is too large for every route", () => {
  const TOO_LARGE = [
    ["a 402", refuses(402, "Requires more credits, or fewer max_tokens: can only afford 900")],
    ["a 429", refuses(429, "Request too large: Limit 100, Requested 900", { "retry-after": "60" })],
    ["a 413", refuses(413, "Too large")],
  ] as const;

  test.each(TOO_LARGE)("is an invalid request to its sender, which no SDK repeats: %s", async (_, script) => {
    for (const name of ["cheap", "dear"]) gateway.upstream.on(name, script);
    const response = await post(gateway, CHAT);
    await expectError(response.clone(), CHAT, "rejected_by_upstream");
    expect((await gateway.receiptOf(response)).captured).toBe(0n);
    expect(gateway.upstream.seen).toHaveLength(2);
    gateway.upstream.on("dear", answerWith());
    expect(await routeOfOthers()).toBe("cheap");
  });

  test.each(TOO_LARGE)(
    "may be repeated when another route is only away, before or after: %s",
    async (_, script) => {
      for (const [away, small] of [
        ["cheap", "dear"],
        ["dear", "cheap"],
      ] as const) {
        gateway.upstream.on(away, refuses(500, "Away"));
        gateway.upstream.on(small, script);
        await expectError(await post(gateway, CHAT), CHAT, "upstream_unavailable");
      }
    },
  );
});

describe("a 400 for the operator's account", () => {
  const anthropic = (message: string) =>
    answer({
      status: 400,
      body: JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } }),
    });
  const TOO_LOW =
    "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.";

  test.each([
    ["Anthropic's low balance", anthropic(TOO_LOW)],
    ["Anthropic's limit of spending", anthropic("You have reached your specified API usage limits. Wait.")],
    [
      "OpenAI's limit of spending",
      answer({ status: 400, body: '{"error":{"code":"billing_hard_limit_reached"}}' }),
    ],
    ["Google's key", refuses(400, "API key not valid. Please pass a valid API key.")],
    [
      "xAI's key",
      answer({
        status: 400,
        body: '{"code":"Bad","error":"Incorrect API key provided: xa***. See the console."}',
      }),
    ],
  ])("rests the key and moves on: %s", async (_, script) => {
    gateway.upstream.on("cheap", script);
    expect((await post(gateway, CHAT)).status).toBe(200);
    expect(await routeOfOthers()).toBe("dear");
  });

  test("is 502 to the sender when no route is left", async () => {
    for (const name of ["cheap", "dear"]) gateway.upstream.on(name, anthropic(TOO_LOW));
    await expectError(await post(gateway, CHAT), CHAT, "upstream_unavailable");
  });

  test.each([
    `Invalid value: '${TOO_LOW}'. Supported values are: 'auto'.`,
    `tools.0.name: ${TOO_LOW}`,
    `Your credit balance is too low' is no valid value`,
  ])("is not read out of a message that quotes the request: %s", async (message) => {
    gateway.upstream.on("cheap", anthropic(message));
    await expectError(await post(gateway, CHAT), CHAT, "rejected_by_upstream");
    expect(await routeOfOthers()).toBe("cheap");
  });
});

describe("a refusal that one account's requests meet", () => {
  test.each([
    ["a 403 without words", refuses(403, "Forbidden")],
    ["a 402 without words", refuses(402, "Refused")],
    ["a 403 with retry-after", refuses(403, "Forbidden", { "retry-after": "60" })],
    [
      "a 402 for the size of a request",
      refuses(402, "Requires more credits, or fewer max_tokens: can only afford 900"),
    ],
    [
      "a 429 for the size of a request",
      refuses(429, "Request too large: Limit 100, Requested 900", { "retry-after": "60" }),
    ],
    ["a 413 with retry-after", refuses(413, "Too large", { "retry-after": "60" })],
    ["a 408 with retry-after", refuses(408, "Slow", { "retry-after": "60" })],
    ["a 500 for its content", refuses(500, "The model crashed")],
    ["a 503 for its content", refuses(503, "Overloaded by this request")],
    ["a 409 with retry-after", refuses(409, "Conflict", { "retry-after": "60" })],
  ])("moves no other account to another route: %s", async (_, script) => {
    gateway.upstream.on("cheap", script);
    for (let left = 2 * CIRCUIT_FAILURES; left > 0; left -= 1)
      expect((await post(gateway, CHAT)).status).toBe(200);
    expect(await routeOfOthers()).toBe("cheap");
  });

  test.each([402, 403])("rests the key when a second account meets it too: %d", async (status) => {
    gateway.upstream.on("cheap", refuses(status, "Refused"));
    await (await post(gateway, CHAT)).text();
    await (await post(gateway, CHAT, { secret: other })).text();
    expect(await routeOfOthers()).toBe("dear");
  });

  describe.each([403, 500])("of two accounts that meet a %d", (status) => {
    test.each([
      ["moves no other account when one person owns both", "owner", false, "cheap"],
      ["moves no other account when the owner of one is developer of the other", "developer", false, "cheap"],
      ["rests the key when the owner of one only reads the other", "viewer", false, "dear"],
      ["rests the key when their one owner is an operator", "owner", true, "dear"],
    ] as const)("%s", async (_, role, isOperator, route) => {
      const { database } = gateway.tollgate.console.parts;
      const second = await gateway.newPayer("10");
      const { id: personId } = await addMember(database, gateway.accountId, "owner", { isOperator });
      const member = { accountId: second.key.accountId, personId, role, createdAtMs: Date.now() };
      await database.db.insert(database.tables.members).values(member);
      gateway.upstream.on("cheap", refuses(status, "Refused"));
      for (let left = CIRCUIT_FAILURES; left > 0; left -= 1) {
        await (await post(gateway, CHAT)).text();
        await (await post(gateway, CHAT, { secret: second.secret })).text();
      }
      expect(await routeOfOthers()).toBe(route);
    });
  });

  test.each([
    [402, "Insufficient balance"],
    [403, "Your API key does not have permission to use this model"],
  ])("rests the key at once when the text names it: %d", async (status, message) => {
    gateway.upstream.on("cheap", refuses(status, message));
    await (await post(gateway, CHAT)).text();
    expect(await routeOfOthers()).toBe("dear");
  });
});
