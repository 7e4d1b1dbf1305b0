import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import type { Account } from "../../../src/accounts/accounts.ts";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { costOf } from "../../../src/domain/model.ts";
import { parsePrice, parseUsd, printUsd } from "../../../src/domain/money.ts";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import * as forecast from "../../../src/forecast/estimate.ts";
import { printEstimate } from "../../../src/http/console/models.ts";
import { scriptedModel, scriptedRoute, TEST_PRICE } from "../../support/test-catalog.ts";
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
    can: null,
    surfaces: ["chat", "messages", "responses", "gemini"],
    routes: null,
    is_demo: false,
  });
  expect(items[2].surfaces).toEqual(["embeddings", "rerank", "moderations"]);
  const acting = { accountId: account.id, untilMs: Date.now() + 60_000 };
  const operator = console.newOperator({ acting });
  const shown = (await console.call(operator, "GET", `/accounts/${account.id}/models`)).json.items[0];
  expect(shown.routes).toEqual([{ upstream: "scripted-openai", model: "chat" }]);
});

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
