import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import type { Account } from "../../../src/accounts/accounts.ts";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { costOf } from "../../../src/domain/model.ts";
import { parsePrice, parseUsd, printUsd } from "../../../src/domain/money.ts";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { printEstimate } from "../../../src/http/console/models.ts";
import * as forecast from "../../../src/usage/forecast/estimate.ts";
import { RouteHours } from "../../../src/usage/route-hours.ts";
import { CHAT, post } from "../../support/client.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream, TEST_PRICE } from "../../support/test-catalog.ts";
import { openTestConsole, type TestConsole } from "../../support/test-console.ts";

const EMBEDDINGS = scriptedModel("vectors", "openai", { outputTokensMax: 0, outputTokensDefault: 0 });

const estimateCost = (...asked: Parameters<typeof forecast.estimateCost>) =>
  printEstimate(forecast.estimateCost(...asked));

let console: TestConsole;
let account: Account;
let viewer: Actor;
beforeAll(async () => {
  const models = [scriptedModel("chat", "openai"), scriptedModel("claude", "anthropic"), EMBEDDINGS];
  console = await openTestConsole({ models });
  account = await console.newAccount();
  viewer = await console.newMember(account.id, "viewer");
});
afterAll(() => console.stop());

const estimate = (body: object, actor = viewer) =>
  console.call(actor, "POST", `/accounts/${account.id}/models/estimate`, body);

test("models are listed with prices and formats, and with routes for operators only", async () => {
  const { items } = (await console.call(viewer, "GET", `/accounts/${account.id}/models`)).json;
  expect(items[0]).toEqual({
    id: "chat",
    context_window: 200_000,
    max_output_tokens: 8_000,
    default_max_output_tokens: 1_000,
    price: {
      input: "1.00",
      output: "2.00",
      cached_input: "0.10",
      cache_write: "1.25",
      cache_write_1h: "2.00",
    },
    tier_prices: null,
    unit_price: null,
    long_price: null,
    tool_prices: null,
    apart_prices: null,
    day: null,
    can: null,
    surfaces: ["chat", "messages", "responses", "gemini"],
    routes: null,
    is_demo: false,
  });
  expect(items[2].surfaces).toEqual(["embeddings", "rerank", "moderations"]);
  const acting = { accountId: account.id, untilMs: Date.now() + 60_000 };
  const operator = console.newOperator({ acting });
  const shown = (await console.call(operator, "GET", `/accounts/${account.id}/models`)).json.items[0];
  expect(shown.routes).toEqual([
    {
      upstream: "scripted-openai",
      model: "chat",
      priority: 1,
      weight: 1,
      cost: null,
      unit_cost: null,
      can: null,
      day: { answered: 0, failed: 0, first_output: null },
    },
  ]);
});

test("a route that fails before another answers has its failure, and the model its answer", async () => {
  const routes = [
    scriptedRoute("away", "chat-away", { price: TEST_PRICE, cost: TEST_PRICE }),
    scriptedRoute("here", "chat-here", { priority: 2 }),
  ];
  const spared = await openTestConsole({
    models: [scriptedModel("spared", "openai", { routes })],
    upstreams: ({ openaiUrl }) => [
      scriptedUpstream("away", "openai", {}),
      scriptedUpstream("here", "openai", { baseUrl: openaiUrl }),
    ],
  });
  const { gateway } = spared;
  for (const stream of [true, false, true]) {
    const answered = await post(gateway, CHAT, { model: "spared", stream });
    expect(answered.status).toBe(200);
    await answered.text();
  }
  const { routeHours } = spared.parts.gateway();
  if (!(routeHours instanceof RouteHours)) throw new Error("This gateway counts nothing");
  await routeHours.flush();

  const { items } = await listOf(spared, spared.newOperator());
  const [away, here] = items[0].routes;
  expect(away.day).toEqual({ answered: 0, failed: 3, first_output: null });
  expect(away.cost.input).toBe("1.00");
  expect(here.day).toMatchObject({ answered: 3, failed: 0 });
  expect(here.day.first_output.p50).toBeGreaterThanOrEqual(0);
  const hours = (await spared.call(spared.newOperator(), "GET", "/operator/route-hours?model=spared")).json;
  const failed = hours.items[0].hours.map((hour: { failed: number }) => hour.failed);
  expect(failed).toHaveLength(24);
  expect(failed.slice(-2).reduce((sum: number, each: number) => sum + each)).toBe(3);
  const unknown = await spared.call(spared.newOperator(), "GET", "/operator/route-hours?model=none");
  expect(unknown.status).toBe(404);

  // Three requests of the whole gateway are too few to be shown to members.
  const member = await spared.newMember(gateway.accountId, "owner");
  const seen = (await spared.call(member, "GET", `/accounts/${gateway.accountId}/models`)).json.items[0];
  expect([seen.day, seen.routes]).toEqual([null, null]);
  expect((await spared.call(member, "GET", "/operator/route-hours?model=spared")).status).toBe(403);
  await spared.stop();
});

test("members see how a model did in rounded figures, and no count", async () => {
  const shared = await openTestConsole();
  const { database } = shared.gateway.tollgate;
  const counts = new RouteHours({ database, log: shared.gateway.log });
  const name = { model: "chat", upstream: "", upstreamModel: "" };
  for (let each = 0; each < 1_000; each += 1) {
    counts.ended(name, { outcome: each === 7 ? "upstream_timeout" : "ok", firstOutputMs: 612 });
  }
  await counts.close();
  const member = await shared.newMember(shared.gateway.accountId, "viewer");
  const { items } = await listOf(shared, member);
  expect(items[0].day).toEqual({ success: 0.99, first_output: { p50: 600, p95: 690 } });
  expect(items[1].day).toBeNull();
  await shared.stop();
});

async function listOf(console: TestConsole, actor: Actor) {
  const { accountId } = console.gateway;
  const acting = actor.isOperator ? { accountId, untilMs: Date.now() + 60_000 } : undefined;
  return (await console.call({ ...actor, acting }, "GET", `/accounts/${accountId}/models`)).json;
}

test("an estimate is tokens times price, and the hold is what a request of that size reserves", async () => {
  const { json } = await estimate({ model: "chat", input_tokens: 1_000, output_tokens: 500 });
  expect(json).toEqual({
    cost_usd: "0.002",
    hold_usd: "0.005",
    lines: [
      { class: "input", tokens: 1_000, price: "1.00", amount_usd: "0.001" },
      { class: "output", tokens: 500, price: "2.00", amount_usd: "0.001" },
    ],
    rounding_usd: "0.00",
  });
});

test("an estimate counts the tokens of a text, and takes the model's default output", async () => {
  const { json } = await estimate({ model: "chat", text: "Hello there, friend." });
  expect(json.lines[0].tokens).toBe(5);
  expect(json.lines[1].tokens).toBe(1_000);
});

test("an estimate of an embedding model has no output", async () => {
  const { json } = await estimate({ model: "vectors", input_tokens: 10 });
  expect(json.lines).toHaveLength(1);
  expect(json.cost_usd).toBe("0.00001");
});

test("an estimate of an unknown model is answered 404, and one below 0 tokens 422", async () => {
  expect((await estimate({ model: "none" })).status).toBe(404);
  expect((await estimate({ model: "chat", input_tokens: -1 })).status).toBe(422);
});

test("lines and rounding of any estimate sum to its cost, which is the price's own", () => {
  const tokens = fc.integer({ min: 0, max: 1_000_000_000 });
  const price = fc.bigInt({ min: 0n, max: 10n ** 9n });
  fc.assert(
    fc.property(tokens, fc.integer({ min: 1, max: 8_000 }), price, price, (input, outputMax, one, other) => {
      const priced = { ...TEST_PRICE, input: one, output: other };
      const model = scriptedModel("m", "openai", { routes: [scriptedRoute("u", "m", { price: priced })] });
      const made = estimateCost(model, { inputTokens: input, textBytes: undefined, outputTokens: outputMax });
      const usage = { ...NO_USAGE, inputTokens: input, outputTokens: outputMax };
      expect(made.cost_usd).toBe(printUsd(costOf(usage, priced)));
      const lines = made.lines.map(({ amount_usd }) => parseUsd(amount_usd));
      const sum = lines.reduce((total, amount) => total + amount, parseUsd(made.rounding_usd));
      expect(sum).toBe(costOf(usage, priced));
    }),
  );
});

test("an estimate above the threshold of long input has the long price", () => {
  const longPrice = { ...TEST_PRICE, input: parsePrice("3.00") };
  const model = scriptedModel("m", "openai", {
    longContext: { contextWindow: undefined, aboveInputTokens: 100 },
    routes: [scriptedRoute("u", "m", { longPrice })],
  });
  const at = (inputTokens: number) =>
    estimateCost(model, { inputTokens, textBytes: undefined, outputTokens: 1 }).lines[0]?.price;
  expect([at(100), at(101)]).toEqual(["1.00", "3.00"]);
});
