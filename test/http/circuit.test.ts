import { describe, expect, test } from "bun:test";
import { post, SURFACES, type Surface } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer, gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream } from "../support/test-catalog.ts";
import { until } from "../support/until.ts";

const gateway = gatewayForTests({
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

const seenModels = () => gateway.upstream.seen.map(({ model }) => model);

const countOpenings = () => gateway.log.text().split('"circuit opened"').length;

/** Sends requests until one is answered by the second upstream alone, as long as the first one fails. */
async function untilSkipped(surface: Surface): Promise<void> {
  await until(async () => {
    const response = await post(gateway, surface);
    expect(response.status).toBe(200);
    // On a busy machine the circuit may have permitted a probe meanwhile.
    const attempts = (await gateway.receiptOf(response)).outcome?.attempts ?? [];
    return attempts.length === 1 && attempts[0]?.upstream === `second-${surface.name}`;
  });
}

/**
 * Sends requests until the upstream model is called again. An open circuit permits a probe after one second.
 */
async function untilReached(surface: Surface, model: string, upstreamModel: string): Promise<Response> {
  for (;;) {
    const response = await post(gateway, surface, { model });
    if (seenModels().includes(upstreamModel)) return response;
    await response.text();
    await Bun.sleep(50);
  }
}

describe.each(SURFACES)("on $path", (surface) => {
  test("an upstream that fails five times in a row is skipped, probed after one second, and used again", async () => {
    const first = `${surface.model}-first`;
    gateway.upstream.on(first, answer({ status: 503, body: "{}" }));
    for (let index = 0; index < 5; index++) expect((await post(gateway, surface)).status).toBe(200);
    await untilSkipped(surface);
    gateway.upstream.reset();
    gateway.upstream.on(first, answerWith());
    await untilReached(surface, surface.model, first);
    await post(gateway, surface);
    expect(seenModels().slice(-2)).toEqual([first, first]);
    expect(gateway.log.text()).toContain('"circuit opened"');
    expect(gateway.log.text()).toContain('"circuit closed"');
  });

  test("a sole upstream with an open circuit still gets up to 32 requests at a time", async () => {
    const model = `${surface.model}-alone`;
    gateway.upstream.on("alone", answer({ status: 500, body: "{}" }));
    for (let index = 0; index < 5; index++) await post(gateway, surface, { model });
    gateway.upstream.reset();
    const { opened, open } = gate();
    gateway.upstream.on("alone", answer({ status: 500, body: "{}", gate: opened }));
    const asked = Array.from({ length: 40 }, () => post(gateway, surface, { model }));
    await gateway.upstream.waitForSeen(32);
    const [early] = await Promise.all([Promise.race(asked), Bun.sleep(50)]);
    const { captured, outcome, state } = await gateway.receiptOf(early);
    expect({ captured, state, attempts: outcome?.attempts }).toEqual({
      captured: 0n,
      state: "released",
      attempts: [],
    });
    await expectError(early, surface, "upstream_unavailable");
    // One more may be the probe.
    expect(gateway.upstream.seen.length).toBeWithin(32, 34);
    open();
    for (const response of await Promise.all(asked)) expect(response.status).toBe(502);
    gateway.upstream.on("alone", answerWith());
    expect((await post(gateway, surface, { model })).status).toBe(200);
  });

  test("a streaming probe closes the circuit with its first output, not with its end", async () => {
    const first = `${surface.model}-first`;
    gateway.upstream.on(first, answer({ status: 503, body: "{}" }));
    for (let index = 0; index < 5; index++) await post(gateway, surface);
    const { opened, open } = gate();
    gateway.upstream.reset();
    gateway.upstream.on(
      first,
      answerWith(undefined, { pauseAt: { bytes: 900, gate: opened } }),
      answerWith(),
    );
    const streams: Response[] = [];
    while (!seenModels().includes(first)) {
      streams.push(await post(gateway, surface, { stream: true }));
      await Bun.sleep(50);
    }
    gateway.upstream.reset();
    expect((await post(gateway, surface)).status).toBe(200);
    expect(seenModels()).toEqual([first]);
    open();
    await Promise.all(streams.map((stream) => stream.text()));
  });

  test("an upstream that breaks off five streams in a row is skipped", async () => {
    const model = `${surface.model}-first`;
    // All break off once all have begun: the first failures may open the circuit for one that begins later.
    const { opened, open } = gate();
    const pauseAt = { bytes: 600, gate: opened };
    gateway.upstream.on(model, answerWith(undefined, { pauseAt, cutAt: 700, end: "close", lingerMs: 1_000 }));
    const openings = countOpenings();
    const broken = Array.from({ length: 5 }, async () =>
      (await post(gateway, surface, { stream: true })).text(),
    );
    await gateway.upstream.waitForSeen(5);
    open();
    await until(() => countOpenings() > openings);
    // A whole answer is not broken off: a probe of it would close the circuit before a request is seen to skip.
    gateway.upstream.on(model, answer({ status: 503, body: "{}" }));
    await untilSkipped(surface);
    const billed = (await Promise.all(broken)).filter((text) => text.includes("billed"));
    // One may meet a connection that the upstream has just closed: that is a failure too, and fails over.
    expect(billed.length).toBeWithin(4, 6);
  });

  test("an upstream's retry-after moves the next requests for that model, and no other model, to another route", async () => {
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

  test("a model in its cooldown is still called when no other route is left", async () => {
    const limited = `${surface.model}-limited`;
    gateway.upstream.on(`${surface.model}-second`, answer({ status: 500, body: "{}" }));
    gateway.upstream.on(limited, answerWith());
    const response = await post(gateway, surface, { model: limited });
    expect(response.status).toBe(200);
    expect(seenModels()).toEqual([`${surface.model}-second`, limited]);
  });
});
