import { describe, expect, spyOn, test } from "bun:test";
import { parsePrice } from "../../src/domain/money.ts";
import { post, SURFACES } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer, resetAtOnce, type Script } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import {
  scriptedModel,
  scriptedRoute,
  scriptedUpstream,
  scriptedUpstreams,
  TEST_PRICE,
} from "../support/test-catalog.ts";

// The second route costs ten times as much.
const dear = { ...TEST_PRICE, input: parsePrice("10.00"), output: parsePrice("20.00") };
const gateway = gatewayForTests({
  models: SURFACES.map(({ model, name }) => {
    const protocol = name === "chat" ? "openai" : "anthropic";
    return scriptedModel(model, protocol, {
      routes: [
        scriptedRoute(`first-${protocol}`, `${model}-first`),
        scriptedRoute(`scripted-${protocol}`, `${model}-second`, { priority: 2, price: dear }),
      ],
    });
  }),
  upstreams: (scripted) => [
    ...scriptedUpstreams(scripted),
    scriptedUpstream("first-openai", "openai", { baseUrl: scripted.openaiUrl }),
    scriptedUpstream("first-anthropic", "anthropic", { baseUrl: scripted.anthropicUrl }),
  ],
});

const refuses = (status: number): Script => answer({ status, body: '{"error":{"message":"no"}}' });

describe.each(SURFACES)("with two routes on $path", (surface) => {
  test.each([false, true])("the client gets the error of the last route (streamed: %p)", async (stream) => {
    gateway.upstream.on(`${surface.model}-first`, refuses(500));
    gateway.upstream.on(`${surface.model}-second`, refuses(400));
    const response = await post(gateway, surface, { stream });
    await expectError(response, surface, "rejected_by_upstream");
    expect((await gateway.receiptOf(response)).outcome?.attempts).toMatchObject([
      { status: 500 },
      { status: 400 },
    ]);
  });

  test("a kept-alive connection that the upstream had closed does not count as a failure", async () => {
    const first = `${surface.model}-first`;
    gateway.upstream.on(first, answerWith(), resetAtOnce, answerWith());
    await (await post(gateway, surface)).text();
    // A reset that a busy machine reads later than 300 ms has another cause.
    using _ = spyOn(performance, "now").mockReturnValue(performance.now());
    const response = await post(gateway, surface);
    expect(response.status).toBe(200);
    expect(gateway.upstream.seen.map(({ model }) => model)).toEqual([first, first, first]);
    const { attempts } = (await gateway.receiptOf(response)).outcome ?? {};
    expect(attempts).toEqual([
      { upstream: expect.stringContaining("first"), reason: "priority", status: 200, ms: expect.any(Number) },
    ]);
  });

  test("the hold covers the price of the dearer route", async () => {
    const response = await post(gateway, surface, { max_tokens: 100 });
    const input = Math.ceil(Buffer.byteLength(JSON.stringify(surface.body({ max_tokens: 100 }))) / 2);
    expect((await gateway.receiptOf(response)).granted).toBe(BigInt(input) * 10_000n + 2_000_000n);
  });
});
