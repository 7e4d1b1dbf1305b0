import { describe, expect, test } from "bun:test";
import type { Protocol } from "../../src/domain/model.ts";
import { CHAT, MESSAGES, SURFACES } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { answerNeutrally, type FormatPair, postTo, readReply } from "../support/format-pairs/format-pair.ts";
import { nanosOf, neutralAnswer } from "../support/format-pairs/neutral-answer.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer, resetAtOnce, type Script } from "../support/script.ts";
import { scriptedModel, scriptedRoute, TEST_PRICE } from "../support/test-catalog.ts";

// The second route costs ten times as much.
const dear = Object.fromEntries(Object.entries(TEST_PRICE).map(([name, price]) => [name, price * 10n]));
const price = { ...TEST_PRICE, ...dear };
const model = (id: string, first: Protocol, second: Protocol) =>
  scriptedModel(id, first, {
    routes: [
      scriptedRoute(`scripted-${first}`, `by-${first}`),
      scriptedRoute(`scripted-${second}`, `by-${second}`, { priority: 2, price }),
    ],
  });
const gateway = gatewayForTests({
  models: [model("openai-first", "openai", "anthropic"), model("anthropic-first", "anthropic", "openai")],
});

const hello = neutralAnswer();
const FAILURES: readonly (readonly [name: string, script: Script, status: number])[] = [
  ["a reset", resetAtOnce, 0],
  ["a 401", answer({ status: 401, body: "{}" }), 401],
  ["a 404", answer({ status: 404, body: "{}" }), 404],
  ["a 413", answer({ status: 413, body: "{}" }), 413],
  ["a 429", answer({ status: 429, body: "{}" }), 429],
  ["a 503", answer({ status: 503, body: "<h1>no</h1>" }), 503],
  ["an invalid answer", answer({ body: '{"choices":[],"content":7}' }), 200],
  ["an answer cut off before its first word", answerNeutrally(hello, { cutAt: 20, end: "close" }), 200],
];

const CASES = SURFACES.flatMap((surface) =>
  (["openai", "anthropic"] as const).map((first) => {
    const second: Protocol = first === "openai" ? "anthropic" : "openai";
    const model = `${first}-first`;
    const isTranslated = (surface === CHAT) !== (second === "openai");
    const pair: FormatPair = { surface, model, upstream: second, isTranslated };
    return { surface, first, second, pair };
  }),
);

describe.each(CASES)("a $surface.name client whose first upstream is $first", ({ first, second, pair }) => {
  test.each(FAILURES)("is answered by the other upstream after %s", async (_name, script, status) => {
    for (const stream of [false, true]) {
      gateway.upstream.on(`by-${first}`, script);
      gateway.upstream.on(`by-${second}`, answerNeutrally(hello));
      const response = await postTo(gateway, pair, { stream });
      expect(await readReply(response, pair)).toEqual(hello);
      const { captured, outcome } = await gateway.receiptOf(response);
      expect(outcome).toMatchObject({
        outcome: "ok",
        upstream: `scripted-${second}`,
        attempts: [{ upstream: `scripted-${first}`, status }, { status: 200 }],
      });
      expect(captured).toBe(10n * nanosOf(hello.usage ?? { input: 0, cached: 0, written: 0, output: 0 }));
    }
  });

  test("is not answered by the other upstream after a rejection or an empty answer", async () => {
    gateway.upstream.on(
      `by-${first}`,
      answer({ status: 400, body: "{}" }),
      answerNeutrally(neutralAnswer({ text: "" })),
    );
    await expectError(await postTo(gateway, pair), pair.surface, "rejected_by_upstream");
    await expectError(await postTo(gateway, pair), pair.surface, "empty_charged");
    expect(gateway.upstream.seen.map(({ model }) => model)).toEqual([`by-${first}`, `by-${first}`]);
  });

  test("gets the error of the last upstream when both fail", async () => {
    gateway.upstream.on(`by-${first}`, resetAtOnce);
    gateway.upstream.on(`by-${second}`, answer({ status: 400, body: "{}" }));
    await expectError(await postTo(gateway, pair), pair.surface, "rejected_by_upstream");
    gateway.upstream.on(`by-${second}`, resetAtOnce);
    await expectError(await postTo(gateway, pair), pair.surface, "upstream_unavailable");
  });
});

describe("a request that only one upstream can represent", () => {
  test.each([
    [CHAT, "anthropic-first", { n: 2 }, "openai"],
    [CHAT, "anthropic-first", { logprobs: true }, "openai"],
    [
      MESSAGES,
      "openai-first",
      { mcp_servers: [{ type: "url", url: "https://x.example", name: "x" }] },
      "anthropic",
    ],
  ] as const)("goes to that upstream directly: %p", async (surface, model, more, understood) => {
    gateway.upstream.on(`by-${understood}`, twice(understood));
    const response = await postTo(
      gateway,
      { surface, model, upstream: understood, isTranslated: false },
      more,
    );
    await response.text();
    expect(response.status).toBe(200);
    expect(gateway.upstream.seen.map(({ model: name }) => name)).toEqual([`by-${understood}`]);
  });

  test("is held at the price of that upstream only", async () => {
    const model = "anthropic-first";
    const pair: FormatPair = { surface: CHAT, model, upstream: "openai", isTranslated: false };
    gateway.upstream.on("by-openai", answerNeutrally(hello));
    const response = await postTo(gateway, pair, { logprobs: true, max_tokens: 1_000 });
    const { granted } = await gateway.receiptOf(response);
    // 1,000 output tokens at ten times the price, and the input.
    expect(Number(granted)).toBeWithin(20_000_000, 30_000_000);
  });
});

/** An answer with two choices, if the format allows it. */
function twice(upstream: Protocol): Script {
  if (upstream === "anthropic") return answerNeutrally(hello);
  const message = { role: "assistant", content: "Hello." };
  const choices = [0, 1].map((index) => ({ index, message, logprobs: null, finish_reason: "stop" }));
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
  return answer({ body: JSON.stringify({ id: "x", object: "chat.completion", choices, usage }) });
}
