import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ConsoleEntry, createConsole } from "../../../src/http/console/entry.ts";
import { openTestConsole, type TestConsole } from "../../support/test-console.ts";

const ORIGIN = "http://console.test";

describe("requests of other sites", () => {
  let console: TestConsole;
  let entry: ConsoleEntry;
  beforeAll(async () => {
    console = await openTestConsole();
    entry = createConsole(console.parts);
  });
  afterAll(() => console.stop());

  function post(headers: Record<string, string>, body: BodyInit = "{}", method = "POST"): Promise<Response> {
    const sent = { "content-type": "application/json", ...headers };
    const request = new Request(`${ORIGIN}/console/api/sign-out`, { method, headers: sent, body });
    return entry(request, "192.0.2.1");
  }

  test.each([
    ["a page of ours", { "sec-fetch-site": "same-origin" }, 200],
    ["another page of our domain", { "sec-fetch-site": "same-site", origin: ORIGIN }, 403],
    ["another site", { "sec-fetch-site": "cross-site", origin: ORIGIN }, 403],
    ["an address typed by a person", { "sec-fetch-site": "none" }, 403],
    ["an older browser on a page of ours", { origin: ORIGIN }, 200],
    ["an older browser on another page", { origin: "http://evil.test" }, 403],
    ["a page with the same start of its origin", { origin: `${ORIGIN}.evil.test` }, 403],
    ["a page on another port", { origin: `${ORIGIN}:81` }, 403],
    ["a page behind https", { origin: "https://console.test" }, 403],
    ["a sandboxed page", { origin: "null" }, 403],
    ["a program without any of these headers", {}, 403],
    ["a program with a key", { authorization: "Bearer mk-tg-x" }, 200],
    ["a page that adds a key to the person's cookie", { authorization: "Bearer x", cookie: "a=b" }, 403],
  ])("%s", async (_name, headers: Record<string, string>, status) => {
    expect((await post(headers)).status).toBe(status);
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""])(
    "a body of the type %p is refused, as forms of other sites can send it",
    async (type) => {
      const answer = await post({ "sec-fetch-site": "same-origin", "content-type": type });
      expect(answer.status).toBe(400);
    },
  );

  test.each(["PUT", "PATCH", "DELETE"])("%s of another site is refused as well", async (method) => {
    expect((await post({ "sec-fetch-site": "cross-site" }, "{}", method)).status).toBe(403);
  });

  test("a body above 1 MiB is refused, with and without its length", async () => {
    const headers = { "sec-fetch-site": "same-origin" };
    const big = JSON.stringify({ name: "x".repeat(1024 * 1024) });
    expect((await post(headers, big)).status).toBe(413);
    expect((await post(headers, new Blob([big]).stream())).status).toBe(413);
  });

  test.each(["{", "[1,", '{"a":}', "\u0000", "null", '"text"', "[]", "1e999", '{"__proto__":{"a":1}}'])(
    "a malformed sign-in %p is refused without a fault of ours",
    async (body) => {
      const headers = { "sec-fetch-site": "same-origin", "content-type": "application/json" };
      const url = `${ORIGIN}/console/api/sign-in`;
      const answer = await entry(new Request(url, { method: "POST", headers, body }), "192.0.2.1");
      expect([400, 422]).toContain(answer.status);
    },
  );

  test.each([
    ['{"email":"a\\u0000b","password":"x"}', 422],
    ['{"email":"a\\\\\\u0000b","password":"x"}', 422],
    ['{"email":"\\\\u0000@example.com","password":"x"}', 422],
  ])("a body with a NUL %p is refused before it reaches a database", async (body, status) => {
    const headers = { "sec-fetch-site": "same-origin", "content-type": "application/json" };
    const url = `${ORIGIN}/console/api/sign-in`;
    const answer = await entry(new Request(url, { method: "POST", headers, body }), "192.0.2.1");
    expect(answer.status).toBe(status);
    const path = new Request(`${ORIGIN}/console/api/accounts/a%00b/keys`);
    expect((await entry(path, "192.0.2.1")).status).toBe(422);
  });

  test("no answer may be stored, sniffed, or tell its address to other sites", async () => {
    const { headers } = await post({ "sec-fetch-site": "same-origin" });
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("access-control-allow-origin")).toBeNull();
  });
});
