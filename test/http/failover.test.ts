import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { parsePrice } from "../../src/domain/money.ts";
import { post, SURFACES } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { says } from "../support/says.ts";
import { answer, garbage, resetAtOnce, type Script, silence } from "../support/script.ts";
import {
  scriptedModel,
  scriptedRoute,
  scriptedUpstream,
  scriptedUpstreams,
  TEST_PRICE,
} from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  const timeouts = { connectMs: 5_000, firstOutputMs: 150, idleMs: 150, totalMs: 5_000 };
  // The second route costs ten times as much.
  const dear = { ...TEST_PRICE, input: parsePrice("10.00"), output: parsePrice("20.00") };
  gateway = await startTestGateway({
    models: SURFACES.map(({ model, name }) => {
      const protocol = name === "chat" ? "openai" : "anthropic";
      return scriptedModel(model, protocol, {
        routes: [
          scriptedRoute(`hasty-${protocol}`, `${model}-first`),
          scriptedRoute(`scripted-${protocol}`, `${model}-second`, { priority: 2, price: dear }),
        ],
      });
    }),
    upstreams: (scripted) => [
      ...scriptedUpstreams(scripted),
      scriptedUpstream("hasty-openai", "openai", { baseUrl: scripted.openaiUrl, timeouts }),
      scriptedUpstream("hasty-anthropic", "anthropic", { baseUrl: scripted.anthropicUrl, timeouts }),
    ],
  });
});
beforeEach(() => gateway.upstream.reset());
afterAll(() => gateway.stop());

const refuses = (status: number): Script => answer({ status, body: '{"error":{"message":"no"}}' });

const MOVES_ON: readonly (readonly [string, Script])[] = [
  ["a reset", resetAtOnce],
  ["garbage", garbage("no HTTP\r\n")],
  ...[401, 402, 403, 404, 408, 409, 413, 429, 500, 502, 503, 529].map(
    (status) => [`status ${status}`, refuses(status)] as const,
  ),
];

describe.each(SURFACES)("with two routes on $path", (surface) => {
  describe.each([false, true])("streamed: %p", (stream) => {
    test.each(MOVES_ON)(
      "%s moves on to the next, and only what answered is billed",
      async (_name, script) => {
        gateway.upstream.on(`${surface.model}-first`, script);
        const response = await post(gateway, surface, { stream });
        expect(response.status).toBe(200);
        expect(await response.text()).toContain("friend");
        expect(gateway.upstream.seen.map(({ model }) => model)).toEqual([
          `${surface.model}-first`,
          `${surface.model}-second`,
        ]);
        const { captured, outcome } = await gateway.receiptOf(response);
        expect(captured).toBe(250_000n);
        expect(outcome?.attempts).toHaveLength(2);
        expect(outcome?.upstreamModel).toBe(`${surface.model}-second`);
      },
    );

    test.each([400, 422])("status %d does not, because another would refuse it too", async (status) => {
      gateway.upstream.on(`${surface.model}-first`, refuses(status));
      await expectError(await post(gateway, surface, { stream }), surface, "rejected_by_upstream");
      expect(gateway.upstream.seen).toHaveLength(1);
    });

    test("an empty answer does not, because it is paid for", async () => {
      gateway.upstream.on(`${surface.model}-first`, says({ usage: { input: 3, output: 4 } }));
      await expectError(await post(gateway, surface, { stream }), surface, "empty_charged");
      expect(gateway.upstream.seen).toHaveLength(1);
    });

    test("the last one's failure is what is said", async () => {
      gateway.upstream.on(`${surface.model}-first`, refuses(500));
      gateway.upstream.on(`${surface.model}-second`, refuses(400));
      await expectError(await post(gateway, surface, { stream }), surface, "rejected_by_upstream");
    });
  });

  test("silence before the first output of a stream moves on", async () => {
    gateway.upstream.on(`${surface.model}-first`, silence);
    const response = await post(gateway, surface, { stream: true });
    expect(await response.text()).toContain("friend");
    await gateway.upstream.seen[0]?.over;
    expect(gateway.upstream.seen[0]?.hungUpAtMs).toBeNumber();
  });

  test("a stream that breaks after output does not begin anew elsewhere", async () => {
    gateway.upstream.on(`${surface.model}-first`, says(undefined, { cutAt: 700, end: "close" }));
    const text = await (await post(gateway, surface, { stream: true })).text();
    expect(text).toContain("upstream_unavailable");
    expect(gateway.upstream.seen).toHaveLength(1);
  });

  test("the hold covers the dearest of them", async () => {
    const response = await post(gateway, surface, { max_tokens: 100 });
    const input = Math.ceil(Buffer.byteLength(JSON.stringify(surface.body({ max_tokens: 100 }))) / 2);
    expect((await gateway.receiptOf(response)).granted).toBe(BigInt(input) * 10_000n + 2_000_000n);
  });
});
