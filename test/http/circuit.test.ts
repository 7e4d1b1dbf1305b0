import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { post, SURFACES, type Surface } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { says } from "../support/says.ts";
import { answer, gate } from "../support/script.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    models: SURFACES.flatMap(({ model, name }) => {
      const first = scriptedRoute(`first-${name}`, `${model}-first`);
      const second = scriptedRoute(`second-${name}`, `${model}-second`, { priority: 2 });
      const protocol = name === "chat" ? "openai" : "anthropic";
      return [
        scriptedModel(model, protocol, { routes: [first, second] }),
        scriptedModel(`${model}-alone`, protocol, { routes: [scriptedRoute(`alone-${name}`, "alone")] }),
        scriptedModel(`${model}-limited`, protocol, {
          routes: [
            scriptedRoute(`limited-${name}`, `${model}-limited`),
            scriptedRoute(`second-${name}`, `${model}-second`, { priority: 2 }),
          ],
        }),
        scriptedModel(`${model}-other`, protocol, {
          routes: [scriptedRoute(`limited-${name}`, `${model}-other`)],
        }),
      ];
    }),
    upstreams: (scripted) =>
      SURFACES.flatMap(({ name }) =>
        ["first", "second", "alone", "limited"].map((upstream) =>
          scriptedUpstream(`${upstream}-${name}`, name === "chat" ? "openai" : "anthropic", {
            baseUrl: name === "chat" ? scripted.openaiUrl : scripted.anthropicUrl,
            circuitFailures: 5,
          }),
        ),
      ),
  });
});
beforeEach(() => gateway.upstream.reset());
afterAll(() => gateway.stop());

const seenModels = () => gateway.upstream.seen.map(({ model }) => model);

/** Asks until an upstream model is reached again: its circuit lets a probe through after a second. */
async function untilReached(surface: Surface, model: string, upstreamModel: string): Promise<Response> {
  for (;;) {
    const response = await post(gateway, surface, { model });
    if (seenModels().includes(upstreamModel)) return response;
    await response.text();
    await Bun.sleep(50);
  }
}

describe.each(SURFACES)("on $path", (surface) => {
  test("an upstream that fails five times in a row is left alone, probed after a second, and used again", async () => {
    const first = `${surface.model}-first`;
    gateway.upstream.on(first, answer({ status: 503, body: "{}" }));
    for (let index = 0; index < 5; index++) expect((await post(gateway, surface)).status).toBe(200);
    gateway.upstream.reset();
    gateway.upstream.on(first, says());
    const response = await post(gateway, surface);
    expect((await gateway.receiptOf(response)).outcome?.attempts).toMatchObject([
      { upstream: `second-${surface.name}`, status: 200 },
    ]);
    expect(seenModels()).not.toContain(first);
    await untilReached(surface, surface.model, first);
    await post(gateway, surface);
    expect(seenModels().slice(-2)).toEqual([first, first]);
    expect(gateway.log.text()).toContain('"circuit opened"');
    expect(gateway.log.text()).toContain('"circuit closed"');
  });

  test("a sole upstream whose circuit is open fails at once, for nothing, with no attempt on the receipt", async () => {
    const model = `${surface.model}-alone`;
    gateway.upstream.on("alone", answer({ status: 500, body: "{}" }));
    for (let index = 0; index < 5; index++) await post(gateway, surface, { model });
    gateway.upstream.reset();
    const response = await post(gateway, surface, { model, stream: true });
    const { captured, outcome, state } = await gateway.receiptOf(response);
    expect({ captured, state, attempts: outcome?.attempts }).toEqual({
      captured: 0n,
      state: "released",
      attempts: [],
    });
    await expectError(response, surface, "upstream_unavailable");
    expect(gateway.upstream.seen).toHaveLength(0);
  });

  test("a probe that streams lets others through with its first output, not with its end", async () => {
    const model = `${surface.model}-alone`;
    const { opened, open } = gate();
    gateway.upstream.on("alone", says(undefined, { pauseAt: { bytes: 900, gate: opened } }));
    const deadline = performance.now() + 5_000;
    let stream = await post(gateway, surface, { model, stream: true });
    while (stream.status !== 200 && performance.now() < deadline) {
      await Bun.sleep(50);
      stream = await post(gateway, surface, { model, stream: true });
    }
    expect(stream.status).toBe(200);
    const other = await post(gateway, surface, { model, stream: true });
    expect(other.status).toBe(200);
    open();
    await Promise.all([stream.text(), other.text()]);
  });

  test("an upstream's retry-after sends the next requests of that model elsewhere, and only those", async () => {
    const limited = `${surface.model}-limited`;
    const headers = { "retry-after": "100000" };
    gateway.upstream.on(limited, answer({ status: 429, headers, body: "{}" }));
    const first = await post(gateway, surface, { model: limited });
    expect(first.headers.get("retry-after")).toBeNull();
    await post(gateway, surface, { model: limited });
    expect(seenModels()).toEqual([limited, `${surface.model}-second`, `${surface.model}-second`]);
    expect((await post(gateway, surface, { model: `${surface.model}-other` })).status).toBe(200);
    expect(seenModels().at(-1)).toBe(`${surface.model}-other`);
  });

  test("a model that rests is asked all the same when no other route is left", async () => {
    const limited = `${surface.model}-limited`;
    gateway.upstream.on(`${surface.model}-second`, answer({ status: 500, body: "{}" }));
    gateway.upstream.on(limited, says());
    const response = await post(gateway, surface, { model: limited });
    expect(response.status).toBe(200);
    expect(seenModels()).toEqual([`${surface.model}-second`, limited]);
  });
});
