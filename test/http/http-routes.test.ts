import { describe, expect, test } from "bun:test";
import { DEMO_MODEL } from "../../src/demo/demo-model.ts";
import { CHAT, MESSAGES, post, RESPONSES } from "../support/client.ts";
import { expectError, expectRequestIds } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { sendRaw } from "../support/raw-client.ts";
import { scriptedModel } from "../support/test-catalog.ts";

const models = [scriptedModel("chat", "openai"), scriptedModel("claude", "anthropic"), DEMO_MODEL];
const gateway = gatewayForTests({ models });

const WEBSOCKET = { "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" };
const UNMATCHED = [
  ["POST", "/chat/completions"],
  ["POST", "/messages"],
  ["GET", "/v1"],
  ["GET", "/v1/"],
  ["POST", "/v1/chat/completions/"],
  ["POST", "/v1/chat"],
  ["POST", "/V1/chat/completions"],
  ["POST", "/v1/v1/chat/completions"],
  ["PUT", "/v1/chat/completions"],
  ["PATCH", "/v1/chat/completions"],
  ["DELETE", "/v1/chat/completions"],
  ["OPTIONS", "/v1/chat/completions"],
  ["GET", "/v1/nothing"],
  ["POST", "/v1/models"],
  ["POST", "/v1/key"],
  ["GET", "/v1/receipts"],
  ["DELETE", "/v1/receipts/01a1fcb8-617b-7027-9aa9-28f5cbc8cb23"],
  ["POST", "/"],
  ["GET", "/favicon.ico"],
  ["GET", "/v1/%zz"],
  ["GET", "/%2e%2e/etc/passwd"],
  ["GET", "/constructor"],
] as const;

const NOT_BUILT = [
  ["GET", "/v1/responses"],
  ["GET", "/v1/responses/resp_1"],
  ["DELETE", "/v1/responses/resp_1"],
  ["GET", "/v1/responses/resp_1/input_items"],
  ["POST", "/v1/responses/resp_1/cancel"],
  ["POST", "/v1/responses/input_tokens"],
  ["POST", "/v1/completions"],
  ["GET", "/v1/audio/voices"],
  ["GET", "/v1/files"],
  ["GET", "/v1/files/file-1/content"],
  ["POST", "/v1/batches"],
  ["GET", "/v1/fine_tuning/jobs"],
  ["POST", "/v1/uploads"],
  ["POST", "/v1/vector_stores"],
  ["GET", "/v1/chat/completions"],
  ["GET", "/v1/chat/completions/chatcmpl-1"],
  ["POST", "/v1/realtime/sessions"],
  ["POST", "/v1/assistants"],
  ["POST", "/v1/threads/runs"],
] as const;

const NOT_BUILT_MESSAGES = [
  ["POST", "/v1/messages/batches"],
  ["GET", "/v1/messages/batches"],
  ["GET", "/v1/messages/batches/msgbatch_1/results"],
] as const;

describe("case 8: a path or method that matches no route", () => {
  test.each(UNMATCHED)("such as %s %s is 404, with or without a key", async (method, path) => {
    const authorization = `Bearer ${gateway.secret}`;
    for (const headers of [{}, { authorization }]) {
      const answer = await fetch(`${gateway.url}${path}`, { method, headers });
      await expectError(answer, CHAT, "unknown_route");
    }
  });

  test.each([
    ["GET", "/v1/messages"],
    ["PUT", "/v1/messages"],
    ["POST", "/v1/messages/"],
    ["POST", "/v1/messages/unknown"],
  ])("such as %s %s is 404 in the messages envelope", async (method, path) => {
    await expectError(await fetch(`${gateway.url}${path}`, { method }), MESSAGES, "unknown_route");
  });

  test("is reported in the messages envelope to a client that sends anthropic-version", async () => {
    const headers = { "anthropic-version": "2026-10-21" };
    await expectError(await fetch(`${gateway.url}/v1/nothing`, { headers }), MESSAGES, "unknown_route");
    await expectError(await fetch(`${gateway.url}/nothing`, { headers }), CHAT, "unknown_route");
  });

  test("has an empty body with HEAD", async () => {
    const answer = await fetch(`${gateway.url}/v1/nothing`, { method: "HEAD" });
    expect(answer.status).toBe(404);
    expect(await answer.text()).toBe("");
  });
});

describe("a known route that is not implemented", () => {
  test("is 426 for responses through a WebSocket behind a proxy that knows of none", async () => {
    const headers = { ...WEBSOCKET, authorization: `Bearer ${gateway.secret}` };
    const answer = await fetch(`${gateway.url}/v1/responses`, { headers });
    expect([answer.status, answer.headers.get("upgrade")]).toEqual([426, "HTTP/1.1"]);
    await expectError(answer, RESPONSES, "no_websocket");
  });

  test("is 501 for other WebSockets", async () => {
    const headers = { ...WEBSOCKET, connection: "Upgrade", upgrade: "WebSocket" };
    await expectError(await fetch(`${gateway.url}/v1/realtime`, { headers }), CHAT, "not_built");
  });

  test.each(NOT_BUILT)("such as %s %s is 501", async (method, path) => {
    await expectError(await fetch(`${gateway.url}${path}`, { method }), CHAT, "not_built");
  });

  test.each(NOT_BUILT_MESSAGES)("such as %s %s is 501 in the messages envelope", async (method, path) => {
    await expectError(await fetch(`${gateway.url}${path}`, { method }), MESSAGES, "not_built");
  });
});

describe("unusual HTTP:", () => {
  const raw = (request: string) => sendRaw(gateway.url, [request]);

  test("a Host header of any length does not change the path", async () => {
    for (const host of ["x", "api", "localhost", "a.very.long.host.name.example:8080"]) {
      const found = await raw(
        `GET /v1/models HTTP/1.1\r\nhost: ${host}\r\nx-api-key: ${gateway.secret}\r\n\r\n`,
      );
      expect([host, found.status]).toEqual([host, 200]);
      const shifted = await raw(
        `GET /a/v1/models HTTP/1.1\r\nhost: ${host}\r\nx-api-key: ${gateway.secret}\r\n\r\n`,
      );
      expect([host, shifted.status]).toEqual([host, 404]);
      expect(shifted.body).toContain("model_not_found");
    }
  });

  test.each(["a b", '"', "/", "//x/", "?", "#x", "x@y", "", "a%00b", "localhost:99999", "["])(
    "a Host header of %p does not change the path and reveals nothing",
    async (host) => {
      const get = (path: string) =>
        raw(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nx-api-key: ${gateway.secret}\r\n\r\n`);
      const found = await get("/v1/models");
      expect(found.status).toBe(200);
      expect(found.body).toContain('"object":"list"');
      expect((await get("/v1/models/chat")).status).toBe(200);
      for (const path of ["/a/v1/models", "/nothing", "/v1/models/nobody"]) {
        const missed = await get(path);
        expect([path, missed.status, missed.headers["content-type"]]).toEqual([
          path,
          404,
          "application/json",
        ]);
        expect(missed.headers["x-request-id"]).toBe(missed.headers["request-id"] ?? "none");
        expect(missed.body).toContain("model_not_found");
      }
    },
  );

  test("HTTP/1.0 without a Host header finds its route", async () => {
    const ask = (path: string) => raw(`GET ${path} HTTP/1.0\r\nx-api-key: ${gateway.secret}\r\n\r\n`);
    expect((await ask("/v1/models")).status).toBe(200);
    expect((await ask("/a/v1/models")).status).toBe(404);
  });

  test("a short Host header does not affect the body", async () => {
    const body = JSON.stringify(CHAT.body());
    const answer = await raw(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: gw\r\nx-api-key: ${gateway.secret}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    expect(answer.status).toBe(200);
    expect(answer.body).toContain("Hello there, friend.");
  });

  test.each([
    ...[
      "//v1/models",
      "///v1/models",
      "/v1//models",
      "/%761/models",
      "/v1%2fmodels",
      "/v1/models/",
      "/v1/models#x",
    ],
    ...["/x/../v1/models", "/x/%2e%2e/v1/models", "/x/%2E./v1/models", "/v1/./models", "/v1/%2e/models"],
    ...[
      "/v1/key/../models",
      "/v1/models/../models",
      "/v1/models/%2e%2e/key",
      "/v1/models/.",
      "/v1/models/chat/../chat",
    ],
    ...[
      "/v1\\models",
      "/x\\..\\v1\\models",
      "/v1/models\\chat",
      "/v1/models/x\\..\\chat",
      "/v1/models/..\\key",
    ],
    ...["/v1/receipts/..\\models", "/v1/receipts/../models", "/v1/files/../models", "/v1/files/..\\models"],
    ...["http://localhost/x/../v1/models", "/../v1/models", "/.", "/x/.."],
  ])("the path %s matches no route", async (path) => {
    for (const host of ["localhost", "gw", ""]) {
      const answer = await raw(
        `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nx-api-key: ${gateway.secret}\r\n\r\n`,
      );
      expect(answer.status).toBe(404);
      expect(answer.body).toContain("No route matches");
    }
  });

  test("a path that only URL normalisation turns into a model route reads no body and costs nothing", async () => {
    const body = JSON.stringify(CHAT.body());
    for (const path of ["/x/..", "/v1/..", "/%2e"].map((prefix) => `${prefix}${CHAT.path}`)) {
      const answer = await raw(
        `POST ${path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${gateway.secret}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
      expect([path, answer.status]).toEqual([path, 404]);
    }
  });

  test.each(["/v1/models/a%2fb", "/v1/models/a/b/c/d", "/v1/models/a.b/..c", "/v1/models/%zz"])(
    "the path %s asks for a model with that name",
    async (path) => {
      const answer = await raw(
        `GET ${path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${gateway.secret}\r\n\r\n`,
      );
      expect([answer.status, answer.body]).toEqual([
        404,
        expect.stringContaining("The model does not exist"),
      ]);
    },
  );

  test("an absolute request target, as sent by proxies, finds its route", async () => {
    const answer = await raw(
      `GET http://elsewhere.example/v1/models HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${gateway.secret}\r\n\r\n`,
    );
    expect(answer.status).toBe(200);
  });

  test("an uncommon method is 404", async () => {
    for (const method of ["TRACE", "CONNECT", "PURGE"]) {
      const answer = await raw(`${method} /v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n`);
      expect([method, answer.status]).toEqual([method, 404]);
    }
  });

  test("any query, content type and Accept header is accepted", async () => {
    for (const [query, headers] of [
      ["?beta=true", { "content-type": "text/plain" }],
      ["?x=1&x=2&%zz", { accept: "application/json" }],
      ["", { accept: "text/html", "content-type": "application/x-www-form-urlencoded" }],
    ] as [string, Record<string, string>][]) {
      const answer = await fetch(`${gateway.url}/v1/messages${query}`, {
        method: "POST",
        headers: { ...headers, "x-api-key": gateway.secret },
        body: JSON.stringify(MESSAGES.body()),
      });
      expect(answer.status).toBe(200);
      await answer.body?.cancel();
    }
  });

  test("a request id of the client is not used", async () => {
    const headers = { "x-request-id": "mine", "request-id": "mine" };
    expectRequestIds(await post(gateway, CHAT, { headers }));
  });
});
