import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ConsoleEntry, createConsole } from "../../../src/http/console/entry.ts";
import { sendRaw } from "../../support/raw-client.ts";
import { openTestConsole, type TestConsole } from "../../support/test-console.ts";

const ORIGIN = "http://console.test";
const MIB = 1024 * 1024;
const nest = (depth: number, inside = "1") => "[".repeat(depth) + inside + "]".repeat(depth);
const fill = (piece: string) => piece.repeat(Math.floor((MIB - 100) / piece.length));

/** Bodies of up to 1 MiB that cost a parser, a validator or a printer of errors up to seconds. */
const HOSTILE: readonly (readonly [string, string])[] = [
  ["2,000 values of 250 levels", `[${Array(2_000).fill(nest(250)).join(",")}]`],
  ["1,000 values of 490 levels", `[${Array(1_000).fill(nest(490)).join(",")}]`],
  ["1,000 values of 490 levels in a member", `{"email":[${Array(1_000).fill(nest(490)).join(",")}]}`],
  ["500,000 zeros", `[${fill("0,")}0]`],
  ["500,000 zeros in a member", `{"name":[${fill("0,")}0]}`],
  ["100,000 members", `{${Array.from({ length: 90_000 }, (_, at) => `"k${at}":0`).join(",")}}`],
  ["a long number", `{"email":${"1".repeat(MIB - 100)}}`],
  ["500,000 escapes", `{"email":"${fill("\\n")}"}`],
  ["500,000 escaped backslashes", `{"email":"${fill("\\\\")}"}`],
  ["a member of 33 levels", `{"email":${nest(32)}}`],
];
const ANYBODY = ["/sign-in", "/sign-up", "/password/forgot", "/password/reset", "/email/verify"];

describe("a hostile body", () => {
  let console: TestConsole;
  let unthrottled: ConsoleEntry;
  let signedIn: readonly string[];
  let viewer: string;
  beforeAll(async () => {
    console = await openTestConsole();
    unthrottled = createConsole({ ...console.parts, throttle: (_kind, _attempt, work) => work() });
    const { id } = await console.newAccount();
    viewer = (await console.newMember(id, "viewer")).id;
    signedIn = [
      `/accounts/${id}/models/estimate`,
      `/accounts/${id}/keys`,
      `/accounts/${id}/playground`,
      "/me",
    ];
  });
  afterAll(() => console.stop());

  function post(entry: ConsoleEntry, path: string, body: string, address = "192.0.2.1"): Promise<Response> {
    const headers = { origin: ORIGIN, "content-type": "application/json", "x-test-actor": viewer };
    const method = path === "/me" ? "PATCH" : "POST";
    return entry(new Request(`${ORIGIN}/console/api${path}`, { method, headers, body }), address);
  }

  test.each(HOSTILE)("of %s is refused before it is parsed, on every route", async (_name, body) => {
    const { json } = Request.prototype;
    let parsed = 0;
    Request.prototype.json = function (this: Request) {
      parsed += 1;
      return json.call(this);
    };
    try {
      for (const path of [...ANYBODY, ...signedIn]) {
        const answer = await post(unthrottled, path, body);
        expect([path, answer.status]).toEqual([path, 422]);
      }
    } finally {
      Request.prototype.json = json;
    }
    expect(parsed).toBe(0);
  });

  test("costs a few milliseconds of CPU, whoever sends it", async () => {
    const before = process.cpuUsage();
    for (const path of ["/sign-in", ...signedIn.slice(0, 1)]) {
      for (const [, body] of HOSTILE) await (await post(unthrottled, path, body)).text();
    }
    const { user, system } = process.cpuUsage(before);
    // Twenty bodies: 0.3 s in all, and 14 s when each was parsed and printed.
    expect((user + system) / 1_000).toBeLessThan(4_000);
  });

  test("within the bounds is checked without an error of the library, which prints the value", async () => {
    const printed: unknown[] = [];
    const { stringify } = JSON;
    JSON.stringify = ((value: unknown, ...rest: []) => {
      const text = stringify(value, ...rest);
      if (text?.includes("canary")) printed.push(text);
      return text;
    }) as typeof stringify;
    try {
      const body = `{"email":[${Array(4_000).fill('"canary"').join(",")}],"password":${nest(31, '"canary"')}}`;
      const answer = await post(unthrottled, "/sign-in", body);
      expect(answer.status).toBe(422);
      expect((await answer.json()).error.message).toContain("email");
    } finally {
      JSON.stringify = stringify;
    }
    expect(printed).toEqual([]);
  });

  test("is refused unread when an address has sent 120 in a minute", async () => {
    const entry = createConsole(console.parts);
    const wrong = () => post(entry, "/sign-in", "[]", "192.0.2.20").then(({ status }) => status);
    const statuses: number[] = [];
    for (let sent = 0; sent < 125; sent += 1) statuses.push(await wrong());
    expect(statuses.filter((status) => status === 422)).toHaveLength(120);
    expect(statuses.slice(120)).toEqual(Array(5).fill(429));
    const next = await post(entry, "/sign-in", "[]", "192.0.2.20");
    expect(Number(next.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect((await post(entry, "/sign-in", "[]", "192.0.2.21")).status).toBe(422);
  });

  test("of another site does not count against the address of the person who visits it", async () => {
    const entry = createConsole(console.parts);
    for (let sent = 0; sent < 130; sent += 1) {
      const headers = { "sec-fetch-site": "cross-site", "content-type": "application/json" };
      const url = `${ORIGIN}/console/api/sign-in`;
      const answer = await entry(new Request(url, { method: "POST", headers, body: "[]" }), "192.0.2.22");
      expect(answer.status).toBe(403);
    }
    expect((await post(entry, "/sign-in", "[]", "192.0.2.22")).status).toBe(422);
  });

  test.each([
    ["too large", "/console/api/sign-in", 413],
    ["too large", "/console/api/stripe/webhook", 501],
    ["of another site", "/console/api/sign-up", 403],
    ["sent to a page", "/console/keys", 404],
  ])("%s, on %s, gets its answer although its connection closes", async (name, path, status) => {
    const body = JSON.stringify({ name: "x".repeat(5 * MIB) });
    const site = name === "of another site" ? "cross-site" : "same-origin";
    const head =
      `POST ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `sec-fetch-site: ${site}\r\n`;
    for (const framing of [
      `content-length: ${body.length}\r\n\r\n${body}`,
      `transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    ]) {
      const answer = await sendRaw(console.gateway.url, [head + framing]);
      expect([answer.status, answer.fault]).toEqual([status, undefined]);
    }
  });

  test.each(["ai", "llm", "a", "a.b", "", "ai:80"])("a console on the host %p is found", async (host) => {
    const head = `GET /console/api/setup HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`;
    expect((await sendRaw(console.gateway.url, [head])).status).toBe(200);
  });
});
