import { expect, test } from "bun:test";
import fc from "fast-check";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { parseMarkup } from "../../src/domain/money.ts";
import type { Tier } from "../../src/domain/tiers.ts";
import { chargeFor } from "../../src/gateway/charge.ts";
import { Meter } from "../../src/gateway/meter.ts";
import { amountOf, quoteRequest } from "../../src/gateway/quote.ts";
import { offerTier } from "../../src/gateway/tier-prices.ts";
import { linesOf } from "../../src/usage/receipt-lines.ts";
import { besideTokens, shareOf } from "./apart-oracle.ts";
import { createHeldRequest } from "./held-request.ts";
import { factor, maybe, OUTPUT_MAX, pricedModels, readModel, WINDOW, writtenKeys } from "./price-cases.ts";
import { type Charged, CLASSES, expectedMoney } from "./price-oracle.ts";

/** The calls of each tool that the request allows. */
const CALLS_MAX = 9;
const TOOLS = ["web_search", "file_search"];
const percent = (max: number) => fc.nat({ max });
const calls = fc.nat({ max: CALLS_MAX });
const cases = fc.record({
  priced: pricedModels({ aboveMax: WINDOW, routesMax: 4 }),
  chosen: fc.nat({ max: 3 }),
  markup: maybe(factor),
  textBytes: fc.nat({ max: 2 * WINDOW }),
  shares: fc.tuple(percent(99), percent(99), percent(99), percent(99)),
  outputTokens: fc.nat({ max: OUTPUT_MAX }),
  asked: fc.constantFrom(undefined, "priority", "flex", "auto"),
  served: fc.constantFrom(undefined, "standard", "priority", "flex", "scale", "unknown"),
  /** What the request has beside text: tools, recordings and images. */
  apart: maybe(fc.record({ web_search: calls, file_search: calls, heard: percent(60), seen: percent(40) })),
});
type Case = typeof cases extends fc.Arbitrary<infer Each> ? Each : never;

/** Splits an honest number of input tokens into classes. */
function tokensOf({ shares, outputTokens }: Case, inputTokensMax: number): Charged["tokens"] {
  const total = shares.reduce((sum, share) => sum + share, 1);
  const [input = 0, cached = 0, write = 0, write1h = 0] = shares.map((share) =>
    Math.floor((inputTokensMax * share) / total),
  );
  return { input, cached_input: cached, cache_write: write, cache_write_1h: write1h, output: outputTokens };
}

/** A request that allows each tool nine times, sends recordings and images, and asks for spoken output. */
const ASKED = {
  tools: { tools: TOOLS.map((name) => ({ name, path: name, callsMax: CALLS_MAX })) },
  audioOutput: "modalities",
};

/** The usage of an answer as a format reads it. */
function reportOf({ apart }: Case, tokens: Charged["tokens"]) {
  const modal = (share: number) => {
    const { input, cached_input, output } = shareOf(tokens, share);
    return { inputTokens: input, cachedInputTokens: cached_input, outputTokens: output };
  };
  return {
    inputTokens: tokens.input,
    cachedInputTokens: tokens.cached_input,
    cacheWriteTokens: tokens.cache_write,
    cacheWrite1hTokens: tokens.cache_write_1h,
    outputTokens: tokens.output,
    ...(apart && { audio: modal(apart.heard), image: modal(apart.seen) }),
  };
}

// `bun run money` draws 10,000.
test("charge and upstream cost equal those of an independent oracle, within the quote and as the receipt's lines", async () => {
  let judged = 0;
  await fc.assert(
    fc.asyncProperty(cases, async (each) => {
      const read = readModel(each.priced);
      if (!read) return;
      judged += 1;
      const markup = each.markup === undefined ? undefined : parseMarkup(each.markup);
      const model = createCatalog([read]).find("m", markup) ?? read;
      const input = each.apart ? { unbounded: true } : { textBytes: each.textBytes };
      const request = { outputTokensMax: OUTPUT_MAX, ...(each.apart && ASKED) };
      const held = createHeldRequest({ model, input, request });
      const [first] = held.plan.candidates;
      if (!first) throw new Error("There is no candidate");
      const { asked, served } = each;
      const place = { surface: "chat", messagesHost: undefined, provider: "openai" } as const;
      const demand = asked && { asked, path: "service_tier" };
      const candidates = model.routes.map((its) => ({
        ...first,
        route: its,
        tier: demand && offerTier(its, place, { tier: demand }),
      }));
      const index = each.chosen % candidates.length;
      const candidate = candidates[index] ?? first;
      // A route that does not sell the tier is no candidate.
      const sold = candidates.filter(({ tier }) => !demand || tier);
      const quote = quoteRequest({ ...held.plan, model, candidates: sold });
      const tokens = tokensOf(each, quote.inputTokens);
      const meter = new Meter(quote, () => 0);
      meter.restart(candidate);
      const { web_search = 0, file_search = 0, heard = 0, seen = 0 } = each.apart ?? {};
      const calls = each.apart && { web_search, file_search };
      const usage = reportOf(each, tokens);
      const answer = { text: "", isOutput: true, isReadable: true, generated: "", usage, tier: served };
      meter.add({ ...answer, ...(calls && { calls }) });
      const counter = { hurry() {}, close() {}, count: () => Promise.reject(new Error("not asked")) };
      const gateway = { tokens: counter, clientDisconnect: "free" } as const;
      const charge = await chargeFor({ kind: "finished", ending: "" }, { ...held, quote, meter }, gateway);
      const total = CLASSES.filter((name) => name !== "output").reduce((sum, name) => sum + tokens[name], 0);
      const isLong = each.priced.long !== undefined && total > each.priced.long.above;
      const charged = { tokens, isLong, markup: each.markup, asked, served };
      const keys = writtenKeys(each.priced, index);
      const [audio, image] = [shareOf(tokens, heard), shareOf(tokens, seen)];
      // An answer of a model with this fee pays it once.
      const { beside, isCostKnown } = besideTokens(keys, charged, {
        calls: { ...calls, request: 1 },
        audio,
        image,
      });
      const expected = expectedMoney(keys, charged, beside);
      expect(expected === undefined).toBe(demand !== undefined && !candidate.tier);
      if (!expected) return;
      expect(charge).toMatchObject({ amount: expected.charge, source: "reported" });
      expect(charge.tier).toBe(expected.tier as Tier | undefined);
      expect(charge.upstreamCost).toBe((isCostKnown ? expected.upstreamCost : undefined) as bigint);
      expect(charge.amount >= 0n && charge.amount <= amountOf(quote, quote.outputTokensMax)).toBe(true);
      const outcome = { outcome: "ok", ...charge, attempts: [] };
      const { lines, rounding } = linesOf({ captured: charge.amount, outcome });
      expect(lines.map(({ name }) => name)).not.toContain("other");
      expect(lines.reduce((sum, { amount }) => sum + amount, rounding)).toBe(charge.amount * 1_000n);
    }),
    { numRuns: Number(process.env.MONEY_REQUESTS ?? 800) },
  );
  expect(judged).toBeGreaterThan(100);
}, 600_000);
