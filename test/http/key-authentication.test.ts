import { describe, expect, test } from "bun:test";
import { DEMO_MODEL } from "../../src/demo/demo-model.ts";
import { CHAT, MESSAGES, post } from "../support/client.ts";
import { expectError, expectRequestIds } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { sendRaw } from "../support/raw-client.ts";
import { scriptedModel } from "../support/test-catalog.ts";

const gateway = gatewayForTests({
  models: [scriptedModel("chat", "openai"), scriptedModel("claude", "anthropic"), DEMO_MODEL],
});

describe("the key", () => {
  const ROUTES = [
    ["POST", "/v1/chat/completions", CHAT.body()],
    ["POST", "/v1/messages", MESSAGES.body()],
    ["POST", "/v1/messages/count_tokens", MESSAGES.body()],
    ["POST", "/v1/responses", { model: "chat", input: "Say hello." }],
    ["POST", "/v1/embeddings", { model: "demo", input: "Say hello." }],
    ["GET", "/v1/models", undefined],
    ["GET", "/v1/models/chat", undefined],
    ["GET", "/v1/key", undefined],
  ] as const;

  test.each(ROUTES)("is accepted in either header on %s %s", async (method, path, body) => {
    const init = { method, body: body === undefined ? null : JSON.stringify(body) };
    const { secret } = gateway;
    for (const headers of [
      { authorization: `Bearer ${secret}` },
      { authorization: `bearer   ${secret} ` },
      { "x-api-key": secret },
      { "x-api-key": secret, authorization: `Bearer ${secret}` },
    ]) {
      const answer = await fetch(`${gateway.url}${path}`, {
        ...init,
        headers: headers as Record<string, string>,
      });
      expect(answer.status).toBe(200);
      expectRequestIds(answer);
      await answer.body?.cancel();
    }
  });

  test.each(ROUTES)("is required on %s %s", async (method, path, body) => {
    const surface = path.startsWith(MESSAGES.path) ? MESSAGES : CHAT;
    const init = { method, body: body === undefined ? null : JSON.stringify(body) };
    for (const headers of [{}, { "x-api-key": "" }, { "x-api-key": "sk-tg-wrong" }] as Record<
      string,
      string
    >[]) {
      await expectError(await fetch(`${gateway.url}${path}`, { ...init, headers }), surface, "unknown_key");
    }
  });

  test("is checked before the body has arrived", async () => {
    for (const announced of [1000, 40 * 1024 * 1024]) {
      const answer = await sendRaw(gateway.url, [
        `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer wrong\r\ncontent-length: ${announced}\r\n\r\n{`,
      ]);
      expect(answer.status).toBe(401);
      expect(answer.body).toContain("invalid_api_key");
    }
  });

  test("never appears in a response or the log", async () => {
    const answers = [
      await post(gateway, CHAT, { raw: "{" }),
      await post(gateway, MESSAGES, { model: "nobody" }),
      await fetch(`${gateway.url}/v1/nothing`, { headers: { "x-api-key": gateway.secret } }),
    ];
    for (const answer of answers) {
      expect(JSON.stringify([...answer.headers]) + (await answer.text())).not.toContain(gateway.secret);
    }
    expect(gateway.log.text()).not.toContain(gateway.secret);
  });
});
