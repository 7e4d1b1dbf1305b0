import { afterEach, describe, expect, test } from "bun:test";
import { findUpstreamProblem } from "../../../src/cli/check/check.ts";
import type { Protocol } from "../../../src/domain/model.ts";
import type { UpstreamConfig } from "../../../src/upstream/upstream.ts";

const running: Bun.Server<undefined>[] = [];
afterEach(() => Promise.all(running.splice(0).map((server) => server.stop(true))));

function startUpstream(answer: (request: Request) => Response) {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
  running.push(server);
  return server.url.origin;
}

function upstreamAt(baseUrl: string, protocol: Protocol = "openai"): UpstreamConfig {
  const timeouts = { connectMs: 5_000, firstOutputMs: 1, idleMs: 1, totalMs: 1 };
  return {
    name: "up",
    protocol,
    baseUrl,
    apiKey: "k-canary",
    timeouts,
    outputLimitField: undefined,
    hasResponses: false,
    circuitFailures: 5,
  } as UpstreamConfig;
}

describe("findUpstreamProblem", () => {
  test.each([
    ["openai", "/v1/models", "authorization", "Bearer k-canary"],
    ["anthropic", "/v1/models", "x-api-key", "k-canary"],
    ["azure", "/openai/v1/models", "api-key", "k-canary"],
  ] as const)("requests the models of an %s upstream with its key", async (protocol, path, header, value) => {
    const seen: unknown[] = [];
    const origin = startUpstream((request) => {
      seen.push([new URL(request.url).pathname, request.headers.get(header)]);
      return Response.json({ data: [] });
    });
    const baseUrl = protocol === "openai" ? `${origin}/v1` : origin;
    expect(await findUpstreamProblem(upstreamAt(baseUrl, protocol))).toBeUndefined();
    expect(seen).toEqual([[path, value]]);
  });

  test.each([401, 403])(
    "reports a key that is rejected with %d, and quotes nothing of the response",
    async (status) => {
      const origin = startUpstream(() => new Response("body-canary", { status }));
      const problem = await findUpstreamProblem(upstreamAt(origin));
      expect(problem).toBe(
        `upstreams.up.api_key: is rejected with status ${status}, expected a key that the upstream accepts`,
      );
    },
  );

  test.each([404, 405, 429])(
    "accepts the status %d of an upstream that does not list its models",
    async (status) => {
      const origin = startUpstream(() => new Response("", { status }));
      expect(await findUpstreamProblem(upstreamAt(origin))).toBeUndefined();
    },
  );

  test("reports an upstream whose port is closed", async () => {
    const origin = startUpstream(() => new Response(""));
    await running.pop()?.stop(true);
    expect(await findUpstreamProblem(upstreamAt(origin))).toBe(
      "upstreams.up.base_url: does not answer (ECONNREFUSED), expected an answer within 5 s",
    );
  });

  test("reports a redirect and does not follow it with the key", async () => {
    const elsewhere: (string | null)[] = [];
    const other = startUpstream((request) => {
      elsewhere.push(request.headers.get("authorization"));
      return new Response("");
    });
    const origin = startUpstream(() => Response.redirect(other));
    expect(await findUpstreamProblem(upstreamAt(origin))).toBe(
      "upstreams.up.base_url: redirects with status 302, expected the URL that it leads to",
    );
    expect(elsewhere).toEqual([]);
  });
});
