import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { CHAT, MESSAGES, post, RESPONSES } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { answer, silence } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const HASTY = { connectMs: 5_000, firstOutputMs: 100, idleMs: 20_000, totalMs: 20_000 };
const PROTOCOLS = ["openai", "anthropic"] as const;

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startTestGateway({
    models: PROTOCOLS.flatMap((protocol) => {
      const model = protocol === "openai" ? "chat" : "claude";
      const routesOf = (kind: string) => [
        scriptedRoute(`one${kind}-${protocol}`, "one"),
        scriptedRoute(`two${kind}-${protocol}`, "two", { priority: 2 }),
      ];
      return ["", "-hasty"].map((kind) =>
        scriptedModel(`${model}${kind}`, protocol, { routes: routesOf(kind) }),
      );
    }),
    upstreams: (scripted) =>
      PROTOCOLS.flatMap((protocol) =>
        ["one", "two", "one-hasty", "two-hasty"].map((name) =>
          scriptedUpstream(`${name}-${protocol}`, protocol, {
            baseUrl: protocol === "openai" ? scripted.openaiUrl : scripted.anthropicUrl,
            circuitFailures: 1,
            ...(name.endsWith("hasty") && { timeouts: HASTY }),
          }),
        ),
      ),
  });
});
afterEach(() => gateway.stop());

const failing = (headers: Record<string, string> = {}) => answer({ status: 429, headers, body: "{}" });

describe.each([CHAT, MESSAGES, RESPONSES])("on $path", (surface) => {
  test("a 502 names the second after which the open circuit of the last route permits a probe", async () => {
    gateway.upstream.on("one", answer({ status: 500, body: "{}" }));
    gateway.upstream.on("two", answer({ status: 500, body: "{}" }));
    const response = await post(gateway, surface);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(response.headers.get("x-should-retry")).toBeNull();
    await expectError(response, surface, "upstream_unavailable");
  });

  test("a 504 of a stream without output names it too", async () => {
    gateway.upstream.on("one", silence);
    gateway.upstream.on("two", silence);
    const response = await post(gateway, surface, { model: `${surface.model}-hasty`, stream: true });
    expect(response.headers.get("retry-after")).toBe("1");
    await expectError(response, surface, "upstream_timeout");
  });

  test("retry-after is the shortest time of the upstreams, and at most a minute", async () => {
    gateway.upstream.on("one", failing({ "retry-after": "100000" }));
    gateway.upstream.on("two", failing({ "retry-after": "12.5" }));
    const startedAt = performance.now();
    const seconds = Number((await post(gateway, surface)).headers.get("retry-after"));
    const elapsedS = (performance.now() - startedAt) / 1_000;
    expect(seconds).toBeWithin(Math.ceil(12.5 - elapsedS), 14);
    gateway.upstream.on("two", failing({ "retry-after": "100000" }));
    expect((await post(gateway, surface)).headers.get("retry-after")).toBe("60");
  });

  test("an error names no time when one route may be called at once", async () => {
    gateway.upstream.on("one", failing({ "retry-after": "30" }));
    gateway.upstream.on("two", failing());
    const response = await post(gateway, surface);
    expect([response.status, response.headers.get("retry-after")]).toEqual([502, null]);
  });
});

describe("the SDK waits as long as retry-after and succeeds:", () => {
  /** Returns the milliseconds between the failure of both routes and the successful retry. */
  async function waitedBy(ask: () => Promise<unknown>): Promise<number> {
    for (const model of ["one", "two"])
      gateway.upstream.on(model, failing({ "retry-after": "3" }), answerWith());
    const startedAt = performance.now();
    await ask();
    const waitedMs = performance.now() - startedAt;
    expect(gateway.upstream.seen.map(({ model }) => model)).toEqual(["one", "two", "one"]);
    return waitedMs;
  }

  test("openai", async () => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret, maxRetries: 1 });
    const waitedMs = await waitedBy(() =>
      client.chat.completions.create({ model: "chat", messages: [{ role: "user", content: "Hi" }] }),
    );
    expect(waitedMs).toBeGreaterThan(2_900);
  });

  test("@anthropic-ai/sdk", async () => {
    const client = new Anthropic({ baseURL: gateway.url, apiKey: gateway.secret, maxRetries: 1 });
    const waitedMs = await waitedBy(() =>
      client.messages.create({
        model: "claude",
        max_tokens: 50,
        messages: [{ role: "user", content: "Hi" }],
      }),
    );
    expect(waitedMs).toBeGreaterThan(2_900);
  });
});
