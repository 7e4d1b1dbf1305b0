import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import type { LiveConfig } from "../../src/config/config.ts";
import { pageFetch } from "../support/browser-fetch.ts";
import { CHAT, MESSAGES, post } from "../support/client.ts";
import { expectError, expectRequestIds } from "../support/expect-error.ts";
import { scriptedModel, scriptedUpstreams } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const PAGE = "https://app.example.com";
const STRANGER = "https://evil.example";
const PREFLIGHT = { "access-control-request-method": "POST", "access-control-request-headers": "x-api-key" };

let off: TestGateway;
let some: TestGateway;
let all: TestGateway;
beforeAll(async () => {
  const limits = { requestsPerMinute: 1_000, tokensPerMinute: 1_000_000 };
  off = await startTestGateway({ limits });
  some = await startTestGateway({ limits, config: { corsOrigins: [PAGE, "http://localhost:3000"] } });
  all = await startTestGateway({ limits, config: { corsOrigins: "*" } });
});
afterAll(async () => {
  for (const gateway of [off, some, all]) await gateway.stop();
});

function options({ url }: TestGateway, headers: Record<string, string>, path = CHAT.path): Promise<Response> {
  return fetch(`${url}${path}`, { method: "OPTIONS", headers });
}

/** The CORS headers and `vary` of a response. */
function corsOf({ headers }: Response): Record<string, string> {
  const names = [...headers].filter(([name]) => name.startsWith("access-control-") || name === "vary");
  return Object.fromEntries(names);
}

describe("without http.cors_origins", () => {
  test("a preflight is 404, and no response names an origin", async () => {
    const refused = await options(off, { origin: PAGE, ...PREFLIGHT });
    await expectError(refused, CHAT, "unknown_route");
    expect(corsOf(refused)).toEqual({});
    expect(corsOf(await post(off, CHAT, { headers: { origin: PAGE } }))).toEqual({});
  });
});

describe("with a list of origins", () => {
  test("a preflight of a listed origin needs no key and allows the headers that it requests", async () => {
    const asked = "authorization,content-type,x-stainless-lang,anthropic-dangerous-direct-browser-access";
    const headers = { origin: PAGE, ...PREFLIGHT, "access-control-request-headers": asked };
    for (const path of [CHAT.path, "/v1/models/a/b", "/nothing", "/v1/files", "/healthz"]) {
      const allowed = await options(some, headers, path);
      expect(allowed.status).toBe(204);
      expectRequestIds(allowed);
      expect(corsOf(allowed)).toMatchObject({
        "access-control-allow-origin": PAGE,
        "access-control-allow-methods": "GET, POST",
        "access-control-allow-headers": asked,
        vary: "origin",
      });
    }
  });

  test.each([STRANGER, "null", "https://app.example.com.evil.example", "http://app.example.com", "*"])(
    "the origin %s may read nothing",
    async (origin) => {
      const refused = await options(some, { origin, ...PREFLIGHT });
      await expectError(refused, CHAT, "unknown_route");
      expect(corsOf(refused)).toEqual({ vary: "origin" });
      expect(corsOf(await post(some, CHAT, { headers: { origin } }))).toEqual({ vary: "origin" });
    },
  );

  test("an OPTIONS request that is no preflight is 404", async () => {
    await expectError(await options(some, { origin: PAGE }), CHAT, "unknown_route");
    const noOrigin = await options(some, PREFLIGHT);
    await expectError(noOrigin, CHAT, "unknown_route");
    expect(corsOf(noOrigin)).toEqual({ vary: "origin" });
  });

  test("no response allows credentials", async () => {
    const headers = { origin: PAGE, cookie: "session=1" };
    const answers = [
      await options(some, { ...headers, ...PREFLIGHT }),
      await fetch(`${some.url}/v1/models`, { headers: { ...headers, "x-api-key": some.secret } }),
      await post(some, CHAT, { headers }),
      await post(some, MESSAGES, { headers, stream: true }),
      await post(some, CHAT, { headers, model: "nobody" }),
      await post(some, CHAT, { headers, secret: "sk-tg-x" }),
      await fetch(`${some.url}/nothing`, { headers }),
      await fetch(`${some.url}/v1/files`, { headers }),
      await fetch(`${some.url}/healthz`, { headers }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([204, 200, 200, 200, 404, 401, 404, 501, 200]);
    for (const answer of answers) {
      const { "access-control-expose-headers": exposed = "", ...cors } = corsOf(answer);
      expect(cors).toMatchObject({ "access-control-allow-origin": PAGE, vary: "origin" });
      expect(Object.keys(cors)).not.toContain("access-control-allow-credentials");
      expect(exposed.split(", ")).toContain("x-request-id");
      await answer.body?.cancel();
    }
  });

  test("invalid header names are not echoed", async () => {
    const asked = { ...PREFLIGHT, "access-control-request-headers": "a: b <script>" };
    const answer = await options(some, { origin: PAGE, ...asked });
    expect(corsOf(answer)["access-control-allow-headers"]).toBeUndefined();
  });
});

describe.each(["openai", "anthropic"] as const)("a page that uses the %s SDK", (sdk) => {
  const ask = async (gateway: TestGateway, origin: string, model: string | undefined, stream: boolean) => {
    const options = { apiKey: gateway.secret, fetch: pageFetch(origin), maxRetries: 0 };
    const messages = [{ role: "user" as const, content: "Say hello." }];
    if (sdk === "openai") {
      const client = new OpenAI({ ...options, baseURL: `${gateway.url}/v1`, dangerouslyAllowBrowser: true });
      return client.chat.completions.create({ model: model ?? "chat", messages, stream }).withResponse();
    }
    const client = new Anthropic({ ...options, baseURL: gateway.url, dangerouslyAllowBrowser: true });
    return client.messages
      .create({ model: model ?? "claude", messages, max_tokens: 100, stream })
      .withResponse();
  };

  test("gets an answer with its request id and limits, whole and streamed", async () => {
    for (const gateway of [some, all])
      for (const stream of [false, true]) {
        const { data, response } = await ask(gateway, PAGE, undefined, stream);
        expect(response.headers.get("request-id")).toMatch(/^[0-9a-f-]{36}$/);
        const limit = sdk === "openai" ? "x-ratelimit-limit-requests" : "anthropic-ratelimit-requests-limit";
        expect(response.headers.get(limit)).toBe("1000");
        if (!stream) expect(response.headers.get("x-tollgate-cost-usd")).toMatch(/^0\.\d+$/);
        if (Symbol.asyncIterator in data) for await (const _ of data);
        expect(response.headers.get("server")).toBeNull();
      }
  });

  test("gets the error of an unknown model", async () => {
    const error: unknown = await ask(some, PAGE, "nobody", false).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 404 });
  });

  test("gets nothing from a gateway that does not list its origin", async () => {
    for (const gateway of [some, off]) {
      await expect(ask(gateway, STRANGER, undefined, false)).rejects.toThrow("Connection error");
    }
  });
});

test("a reload changes the allowed origins of a running gateway", async () => {
  const gateway = await startTestGateway();
  const offer = (corsOrigins: LiveConfig["corsOrigins"]): LiveConfig => ({
    models: [scriptedModel("chat", "openai")],
    upstreams: scriptedUpstreams(gateway.upstream),
    keyLimits: {},
    accountLimits: {},
    clientDisconnect: "charge_input",
    drainMs: 2_000,
    corsOrigins,
  });
  const status = async () => (await options(gateway, { origin: PAGE, ...PREFLIGHT })).status;
  const statuses = [await status()];
  for (const origins of [[PAGE], [STRANGER], "*", [], undefined] as const) {
    gateway.tollgate.apply(offer(origins));
    statuses.push(await status());
  }
  expect(statuses).toEqual([404, 204, 404, 204, 404, 404]);
  await gateway.stop();
});
