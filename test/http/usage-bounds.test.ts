import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Price } from "../../src/domain/model.ts";
import { MESSAGES, objectOf, post, SURFACES } from "../support/client.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { scriptedModel, scriptedRoute, TEST_PRICE } from "../support/test-catalog.ts";
import { readSamples } from "../telemetry/samples.ts";

const BETA = "context-1m-2025-08-07";
const LONG_PRICE: Price = {
  ...TEST_PRICE,
  input: TEST_PRICE.input * 2n,
  output: TEST_PRICE.output * 2n,
  cacheWrite1h: TEST_PRICE.cacheWrite1h * 2n,
};
/** A recorded answer whose input is the sum over a tool loop of the provider. */
const LOOP = join(
  import.meta.dir,
  "../../../shared/recordings-odd/anthropic/anthropic-code-execution-20250825.pptx-skill.json",
);

const route = (more: object) => scriptedRoute("scripted-anthropic", "claude", more);
const longContext = { contextWindow: 1_000_000, aboveInputTokens: 200_000 };
/** Containers at no fee, so that charges are those of tokens. */
const FREE_TOOLS = { ...TEST_PRICE, tools: { code_execution: 0n } };
const gateway = gatewayForTests({
  models: [
    scriptedModel("chat", "openai"),
    scriptedModel("claude", "anthropic", { routes: [route({ price: FREE_TOOLS })] }),
    scriptedModel("wide", "anthropic", { routes: [route({ betas: [BETA] })] }),
    scriptedModel("long", "anthropic", {
      routes: [route({ betas: ["context-1m-*"], longPrice: LONG_PRICE })],
      longContext,
    }),
  ],
  config: { metricsListen: { host: "127.0.0.1", port: 0 } },
});

const reports = (input: number, output = 7) =>
  answerWith({ text: "Hello there, friend.", usage: { input, output } });
const lastHeaders = () => gateway.upstream.seen.at(-1)?.headers ?? {};

async function aboveBound(upstream: string): Promise<Record<string, number | undefined>> {
  const response = await fetch(`http://${gateway.tollgate.metricsAddress}/metrics`);
  const samples = readSamples(await response.text());
  const of = (kind: string) =>
    samples.get(`tollgate_usage_above_bound_total{upstream="${upstream}",kind="${kind}"}`);
  return { input: of("input"), output: of("output") };
}

describe.each(SURFACES)("a usage report above the bound on $path", (surface) => {
  test.each([false, true])(
    "is charged up to the bound, logged and counted (streamed: %p)",
    async (stream) => {
      const upstream = `scripted-${surface.name === "chat" ? "openai" : "anthropic"}`;
      const before = await aboveBound(upstream);
      gateway.upstream.on(surface.model, reports(700_000, 9_000));
      const response = await post(gateway, surface, { stream });
      expect(response.status).toBe(200);
      expect(await response.text()).toContain("friend");
      const receipt = await gateway.receiptOf(response);
      expect(receipt).toMatchObject({
        captured: 200_000n * 1_000n + 1_100n * 2_000n,
        outcome: { outcome: "ok", source: "estimated", usage: { inputTokens: 200_000, outputTokens: 1_100 } },
      });
      const lines = gateway.log.about(receipt.holdId);
      expect(lines.find(({ event }) => event === "usage above bound")).toMatchObject({
        level: "error",
        upstream,
        inputTokens: 700_000,
        inputTokensMax: 200_000,
        outputTokens: 9_000,
        outputTokensMax: 1_100,
      });
      expect(lines.find(({ event }) => event === "request")).toMatchObject({ aboveBound: true });
      expect(await aboveBound(upstream)).toEqual({
        input: (before.input ?? 0) + 1,
        output: (before.output ?? 0) + 1,
      });
    },
  );

  test("is not logged for a report within the bound", async () => {
    gateway.upstream.on(surface.model, reports(200_000, 1_100));
    const response = await post(gateway, surface);
    const lines = gateway.log.about(response.headers.get("x-request-id") ?? "");
    expect(lines.map(({ event }) => event)).toEqual(["request"]);
    expect(lines[0]).not.toHaveProperty("aboveBound");
  });
});

test("a client that disconnects pays at most the bound", async () => {
  const usage = { input_tokens: 700_000, output_tokens: 1 };
  const events = [
    { type: "message_start", message: { type: "message", role: "assistant", content: [], usage } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
  ];
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  gateway.upstream.on(
    "claude",
    answer({ headers: { "content-type": "text/event-stream" }, body, end: "hang" }),
  );
  const controller = new AbortController();
  const response = await post(gateway, MESSAGES, { stream: true, signal: controller.signal });
  controller.abort();
  await gateway.nothingIsHeld();
  expect(await gateway.receiptOf(response)).toMatchObject({
    captured: 200_002_000n,
    outcome: { source: "estimated", outcome: "client_closed" },
  });
});

describe("a tool loop of the provider", () => {
  const tools = [{ type: "code_execution_20250825", name: "code_execution" }];

  test.skipIf(!existsSync(LOOP)).each([
    ["a tool", { tools }, 950_648n * 1_000n + 13_856n * 2_000n],
    ["an MCP server", { mcp_servers: [{ type: "url", url: "https://t.example" }] }, 978_360_000n],
    ["no such tool", {}, 200_000n * 1_000n + 8_800n * 2_000n],
  ])("is charged as far as the request explains it with %s", async (_name, more, charged) => {
    gateway.upstream.on("claude", answer({ body: readFileSync(LOOP, "utf8") }));
    const response = await post(gateway, MESSAGES, { max_tokens: 8_000, ...more });
    expect(response.status).toBe(200);
    expect((await gateway.receiptOf(response)).captured).toBe(charged);
  });

  test("explains a sum above the window on chat too", async () => {
    gateway.upstream.on("chat", reports(950_648, 13_856));
    const response = await post(gateway, SURFACES[0], { tools: [{ type: "mcp" }] });
    expect((await gateway.receiptOf(response)).captured).toBe(978_360_000n);
  });

  test("still limits the charge to an amount that the ledger can book", async () => {
    gateway.upstream.on("claude", reports(Number.MAX_SAFE_INTEGER - 10));
    const response = await post(gateway, MESSAGES, { tools });
    expect(response.status).toBe(200);
    expect((await gateway.receiptOf(response)).captured).toBe(200_000_000n * 1_000n + 14_000n);
  });
});

describe("a beta that changes price or window", () => {
  const send = (model: string, beta: string, more: object = {}) =>
    post(gateway, MESSAGES, { model, headers: { "anthropic-beta": beta }, ...more });

  test("is dropped unless the operator allows it, and other betas are forwarded", async () => {
    await send("claude", `effort-2025-11-24, ${BETA}, fast-mode-2026-02-01,unknown-2027`);
    expect(lastHeaders()["anthropic-beta"]).toBe("effort-2025-11-24,unknown-2027");
    await send("claude", BETA);
    expect(lastHeaders()).not.toHaveProperty("anthropic-beta");
    await send("claude", "effort-2025-11-24 , unknown-2027");
    expect(lastHeaders()["anthropic-beta"]).toBe("effort-2025-11-24 , unknown-2027");
  });

  test("is dropped from a body that names it", async () => {
    await post(gateway, MESSAGES, { betas: ["a", BETA], anthropic_beta: [BETA] });
    const sent: Record<string, unknown> = JSON.parse(gateway.upstream.seen.at(-1)?.bodyText ?? "");
    expect([sent.betas, sent.anthropic_beta]).toEqual([["a"], []]);
    await post(gateway, MESSAGES, { model: "wide", betas: ["a", BETA] });
    expect(JSON.parse(gateway.upstream.seen.at(-1)?.bodyText ?? "")).toMatchObject({ betas: ["a", BETA] });
  });

  test("is dropped from a token count too", async () => {
    const count = (model: string) =>
      fetch(`${gateway.url}/v1/messages/count_tokens`, {
        method: "POST",
        headers: { "x-api-key": gateway.secret, "anthropic-beta": `a,${BETA}` },
        body: JSON.stringify({ model, messages: [{ role: "user", content: "x" }], betas: [BETA] }),
      });
    await count("claude");
    expect(lastHeaders()["anthropic-beta"]).toBe("a");
    expect(gateway.upstream.seen.at(-1)?.bodyText).not.toContain(BETA);
    await count("wide");
    expect(lastHeaders()["anthropic-beta"]).toBe(`a,${BETA}`);
  });

  test("is forwarded when it is allowed, and its larger window is charged as reported", async () => {
    gateway.upstream.on("claude", reports(700_000));
    const response = await send("wide", BETA);
    expect(lastHeaders()["anthropic-beta"]).toBe(BETA);
    expect((await gateway.receiptOf(response)).captured).toBe(700_000n * 1_000n + 14_000n);
  });

  test("widens nothing for a request that does not name it", async () => {
    gateway.upstream.on("claude", reports(700_000));
    expect((await gateway.receiptOf(await post(gateway, MESSAGES, { model: "wide" }))).captured).toBe(
      200_014_000n,
    );
  });

  const content = "word ".repeat(200_000);
  const dear = { messages: [{ role: "user", content }] };

  test("takes a hold for the wider window at the price of a long prompt", async () => {
    gateway.upstream.on("claude", reports(300_000));
    const plain = await gateway.receiptOf(await post(gateway, MESSAGES, { model: "long", ...dear }));
    // The highest price is that of a one-hour cache write.
    expect(plain.granted).toBe(200_000n * 2_000n + 1_000n * 2_000n);
    const long = await gateway.receiptOf(await send("long", BETA, dear));
    // Half a token per byte of a megabyte at twice the highest input price, and output at twice its price.
    expect(Number(long.granted)).toBeWithin(500_000 * 4_000, 501_000 * 4_000 + 4_000_000);
    expect(long).toMatchObject({
      captured: 300_000n * 2_000n + 7n * 4_000n,
      outcome: { price: { input: LONG_PRICE.input, output: LONG_PRICE.output } },
    });
  });

  test("keeps the price of a short prompt", async () => {
    gateway.upstream.on("claude", reports(200_000));
    const receipt = await gateway.receiptOf(await send("long", BETA));
    expect(receipt).toMatchObject({
      captured: 200_014_000n,
      outcome: { price: { input: TEST_PRICE.input } },
    });
    gateway.upstream.on("claude", reports(200_001));
    expect((await gateway.receiptOf(await send("long", BETA))).captured).toBe(200_001n * 2_000n + 28_000n);
  });

  test("is declined when the wallet cannot pay for the wider window", async () => {
    const { secret } = await gateway.newPayer("0.5");
    // 200,000 tokens at the highest normal price cost 0.40 USD; 500,000 at twice that cost 2.00 USD.
    expect((await post(gateway, MESSAGES, { model: "long", secret, ...dear })).status).toBe(200);
    const refused = await send("long", BETA, { ...dear, secret });
    expect(refused.status).toBe(402);
  });

  test("reports its window to a client whose prompt is longer", async () => {
    gateway.upstream.on(
      "claude",
      answer({
        status: 400,
        body: '{"error":{"message":"prompt is too long: 1200000 tokens > 1000000 maximum"}}',
      }),
    );
    expect(await objectOf(await send("wide", BETA))).toMatchObject({
      error: { message: "prompt is too long: 1200000 tokens > 1000000 maximum" },
    });
  });
});
