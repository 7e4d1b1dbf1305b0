import { expect, test } from "bun:test";
import fc from "fast-check";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { createProblems } from "../../src/config/problems.ts";
import { checkRules } from "../../src/config/rules.ts";
import { checkShape } from "../../src/config/schema.ts";
import { readModels } from "../../src/config/settings.ts";
import type { Model } from "../../src/domain/model.ts";
import { parseMarkup } from "../../src/domain/money.ts";
import { chargeFor } from "../../src/gateway/charge.ts";
import { Meter } from "../../src/gateway/meter.ts";
import { amountOf, quoteRequest } from "../../src/gateway/quote.ts";
import { linesOf } from "../../src/usage/receipt-lines.ts";
import { type ApartRoute, besideTokens } from "./apart-oracle.ts";
import { createHeldRequest } from "./held-request.ts";
import { CLASSES, expectedMoney } from "./price-oracle.ts";

const WINDOW = 100_000;
const OUTPUT_MAX = 2_000;
/** The calls of each tool that the request allows. */
const CALLS_MAX = 9;

const text = (digits: number, decimals: number) =>
  fc
    .tuple(fc.nat({ max: 10 ** digits - 1 }), fc.nat({ max: 10 ** decimals - 1 }))
    .map(([whole, part]) => `${whole}.${`${part}`.padStart(decimals, "0")}`);
const usd = text(3, 6);
const fee = text(2, 9);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const modal = fc.record({ input: usd, output: usd, cached_input: usd }, { requiredKeys: [] });
const beside = {
  tools: fc.record({ web_search: fee, file_search: fee }, { requiredKeys: [] }),
  audio_tokens: modal,
  image_tokens: modal,
};
const prices = fc.record(
  { input: usd, output: usd, cached_input: usd, ...beside },
  { requiredKeys: ["input", "output"] },
);
const factor = fc.constantFrom("1", "1.15", "0.0001", "3.5");
const longPrices = fc.record(
  { input: usd, output: usd, cached_input: usd },
  { requiredKeys: ["input", "output"] },
);
const cases = fc.record({
  price: maybe(fc.oneof(prices, fc.record({ markup: factor }))),
  cost: maybe(prices),
  long: maybe(
    fc.record({
      price: maybe(longPrices),
      cost: maybe(longPrices),
      above: fc.integer({ min: 1, max: WINDOW }),
    }),
  ),
  markup: maybe(factor),
  tokens: fc.record({
    input: fc.nat({ max: 40_000 }),
    cached: fc.nat({ max: 40_000 }),
    output: fc.nat({ max: OUTPUT_MAX }),
  }),
  calls: fc.record({ web_search: fc.nat({ max: CALLS_MAX }), file_search: fc.nat({ max: CALLS_MAX }) }),
  /** The shares of audio and images in the classes that contain them, in percent. */
  heard: fc.nat({ max: 60 }),
  seen: fc.nat({ max: 40 }),
});
type Case = typeof cases extends fc.Arbitrary<infer Each> ? Each : never;

/** Removes members without a value, as a file has none. */
function defined<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

/** Reads the file of a case; `undefined` when the rules refuse it. */
function readModel({ price, cost, long }: Case): Model | undefined {
  const longContext = long && { price: long.price, cost: long.cost, above_input_tokens: long.above };
  const file = defined({
    upstreams: { up: { protocol: "openai", base_url: "https://up.example/v1", api_key: "k" } },
    models: {
      m: {
        price,
        cost,
        long_context: longContext,
        routes: [{ upstream: "up", model: "theirs" }],
        context_window: WINDOW,
        max_output_tokens: OUTPUT_MAX,
      },
    },
  });
  const problems = createProblems();
  checkRules(checkShape(file, problems), problems);
  // Safe because a file without problems has the shape.
  return problems.list().length > 0 ? undefined : readModels(file as Parameters<typeof readModels>[0], 0)[0];
}

const TOKENS = { input: 0, output: 0, cached_input: 0, cache_write: 0, cache_write_1h: 0 };

/** The tokens of one modality, as a share of each class. */
function shareOf({ input, cached, output }: Case["tokens"], percent: number) {
  const part = (count: number) => Math.floor((count * percent) / 100);
  return { input: part(input), cached_input: part(cached), output: part(output) };
}

function modalOf({ input, cached_input, output }: ReturnType<typeof shareOf>) {
  return { inputTokens: input, cachedInputTokens: cached_input, outputTokens: output };
}

/** A request that allows each tool nine times, sends recordings and images, and asks for spoken output. */
const ASKED = {
  outputTokensMax: OUTPUT_MAX,
  tools: { tools: ["web_search", "file_search"].map((name) => ({ name, path: name, callsMax: CALLS_MAX })) },
  audioOutput: "modalities",
};

/** Charges a case, with what it must cost by the oracle. */
async function chargeCase(each: Case, read: Model) {
  const model =
    createCatalog([read]).find("m", each.markup === undefined ? undefined : parseMarkup(each.markup)) ?? read;
  const held = createHeldRequest({ model, input: { unbounded: true }, request: ASKED });
  const candidates = held.plan.candidates.flatMap((first) =>
    model.routes.map((route) => ({ ...first, route })),
  );
  const quote = quoteRequest({ ...held.plan, model, candidates });
  const meter = new Meter(quote, () => 0);
  const [candidate] = candidates;
  if (!candidate) throw new Error("There is no candidate");
  meter.restart(candidate);
  const { tokens } = each;
  const [audio, image] = [shareOf(tokens, each.heard), shareOf(tokens, each.seen)];
  const usage = {
    inputTokens: tokens.input,
    cachedInputTokens: tokens.cached,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    outputTokens: tokens.output,
    audio: modalOf(audio),
    image: modalOf(image),
  };
  meter.add({ text: "", isOutput: true, isReadable: true, generated: "", usage, calls: each.calls });
  const counter = { hurry() {}, close() {}, count: () => Promise.reject(new Error("not asked")) };
  const gateway = { tokens: counter, clientDisconnect: "free" } as const;
  const charge = await chargeFor({ kind: "finished", ending: "" }, { ...held, quote, meter }, gateway);
  const charged = {
    tokens: { ...TOKENS, input: tokens.input, cached_input: tokens.cached, output: tokens.output },
    isLong: each.long !== undefined && tokens.input + tokens.cached > each.long.above,
    markup: each.markup,
  };
  const keys: ApartRoute = {
    ...(each.price && { price: each.price }),
    ...(each.cost && { cost: each.cost }),
    ...(each.long?.price && { longPrice: each.long.price }),
    ...(each.long?.cost && { longCost: each.long.cost }),
  };
  const apart = besideTokens(keys, charged, { calls: each.calls, audio, image });
  return {
    charge,
    quote,
    expected: expectedMoney(keys, charged, apart.beside),
    isCostKnown: apart.isCostKnown,
  };
}

test("tools, audio and images cost what an independent oracle says, within the quote, and as the receipt's lines", async () => {
  let judged = 0;
  await fc.assert(
    fc.asyncProperty(cases, async (each) => {
      const read = readModel(each);
      if (!read) return;
      judged += 1;
      const { charge, quote, expected, isCostKnown } = await chargeCase(each, read);
      expect(charge).toMatchObject({ amount: expected?.charge, source: "reported" });
      expect(charge.upstreamCost).toBe((isCostKnown ? expected?.upstreamCost : undefined) as bigint);
      expect(charge.amount >= 0n && charge.amount <= amountOf(quote, quote.outputTokensMax)).toBe(true);
      const { price, usage } = charge;
      const outcome = { outcome: "ok", source: charge.source, price, usage, attempts: [] };
      const { lines, rounding } = linesOf({ captured: charge.amount, outcome });
      expect(lines.map(({ name }) => name)).not.toContain("other");
      expect(lines.reduce((sum, { amount }) => sum + amount, rounding)).toBe(charge.amount * 1_000n);
    }),
    { numRuns: Number(process.env.APART_RUNS ?? 500) },
  );
  expect(judged).toBeGreaterThan(100);
}, 120_000);

test("the classes of the oracle are those of a usage", () => {
  expect(Object.keys(TOKENS).toSorted()).toEqual([...CLASSES].toSorted());
});
