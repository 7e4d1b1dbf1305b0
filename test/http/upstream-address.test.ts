import { expect, test } from "bun:test";
import { CHAT, MESSAGES, post } from "../support/client.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { sendRaw } from "../support/raw-client.ts";

const gateway = gatewayForTests();

/** Host and request target of every upstream call. */
function called() {
  return gateway.upstream.seen.map(({ target, headers }) => `${headers.host} ${target}`);
}

const FIELDS = [
  { base_url: "http://evil.example" },
  { api_base: "http://evil.example", api_key: "k", endpoint: "http://evil.example", url: "/evil" },
  { extra_body: { base_url: "http://evil.example" }, metadata: { host: "evil.example" } },
  { user: "../../evil", path: "/evil", headers: { host: "evil.example" } },
];

test.each(FIELDS)("no field of a body chooses the address of an upstream call: %j", async (fields) => {
  gateway.upstream.reset();
  const { host } = new URL(gateway.upstream.url);
  expect((await post(gateway, CHAT, fields)).status).toBe(200);
  expect((await post(gateway, MESSAGES, { max_tokens: 10, ...fields })).status).toBe(200);
  expect(called()).toEqual([`${host} /v1/chat/completions`, `${host} /v1/messages`]);
});

test.each([
  "../chat",
  "chat/../../evil",
  "chat?x=1",
  "chat#x",
  "http://evil.example/chat",
  "//evil.example",
  "chat\r\nhost: evil",
])("a model named %j is only looked up in the catalog", async (model) => {
  gateway.upstream.reset();
  expect((await post(gateway, CHAT, { model })).status).toBe(404);
  expect(called()).toEqual([]);
});

const HEADERS = [
  "host: evil.example",
  "host: gateway.example\r\nx-forwarded-host: evil.example\r\nforwarded: host=evil.example",
  "host: gateway.example\r\nx-original-url: /evil\r\nx-rewrite-url: /evil\r\nx-http-method-override: GET",
  "host: gateway.example\r\nopenai-base-url: http://evil.example\r\nproxy-authorization: Basic eA==",
  "host: gateway.example\r\nanthropic-beta: one,two\r\nanthropic-version: ../../evil",
  "host: gateway.example\r\ncookie: a=b\r\norigin: http://evil.example\r\nreferer: http://evil.example",
];

test.each(HEADERS)("no header chooses the address of an upstream call: %j", async (headers) => {
  gateway.upstream.reset();
  await sendMessage("/v1/messages?beta=true", headers);
  const { host } = new URL(gateway.upstream.url);
  expect(called()).toEqual([`${host} /v1/messages?beta=true`]);
  const [{ headers: brought = {} } = {}] = gateway.upstream.seen;
  const usual = [
    "host",
    "user-agent",
    "connection",
    "accept",
    "accept-encoding",
    "content-type",
    "content-length",
  ];
  const known = [...usual, "x-api-key", "anthropic-version", "anthropic-beta"];
  expect(Object.keys(brought).filter((name) => !known.includes(name))).toEqual([]);
  expect(brought["x-api-key"]).toBe("provider-secret");
});

test.each([
  ["folded", "anthropic-beta: a\r\n x-evil: 1"],
  ["with a bare line feed", "anthropic-beta: a\nx-evil: 1"],
  ["with a bare carriage return", "anthropic-beta: a\rx-evil: 1"],
  ["with a zero byte", "anthropic-beta: a\0x-evil: 1"],
])("a forwarded header %s is rejected", async (_how, header) => {
  gateway.upstream.reset();
  expect((await sendMessage("/v1/messages", `host: gateway.example\r\n${header}`)).status).toBe(400);
  expect(called()).toEqual([]);
});

test.each([
  "?beta=true&x=1",
  "?x=1",
  "?beta=true#x",
  "?beta=true/../../evil",
  "?api-version=1&target=http://evil.example",
])("only the known query of an SDK is forwarded, not %s", async (query) => {
  gateway.upstream.reset();
  expect((await sendMessage(`/v1/messages${query}`, "host: gateway.example")).status).toBe(200);
  const { host } = new URL(gateway.upstream.url);
  expect(called()).toEqual([`${host} /v1/messages`]);
});

function sendMessage(target: string, headers: string) {
  const body = JSON.stringify(MESSAGES.body({ max_tokens: 10 }));
  const head = `POST ${target} HTTP/1.1\r\n${headers}\r\nauthorization: Bearer ${gateway.secret}\r\n`;
  return sendRaw(gateway.url, [`${head}content-length: ${body.length}\r\n\r\n${body}`]);
}
