import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { costOf, type Model, type Price } from "../../src/domain/model.ts";
import { NO_USAGE } from "../../src/domain/usage.ts";
import {
  amountOf,
  clampToGrant,
  clampToMinute,
  type Quote,
  type QuotedPlan,
  quoteRequest,
  tokensOf,
} from "../../src/gateway/quote.ts";

import type { InputSize, RequestHead } from "../../src/wire/model-request.ts";

const PRICE: Price = {
  input: 3_000_000n,
  output: 15_000_000n,
  cachedInput: 300_000n,
  cacheWrite: 3_750_000n,
  cacheWrite1h: 6_000_000n,
};
const MODEL: Model = {
  id: "m",
  routes: [
    {
      upstream: "u",
      upstreamModel: "m",
      priority: 1,
      weight: 1,
      price: PRICE,
      traits: { reasoning: "none", sampling: true },
    },
  ],
  contextWindow: 10_000,
  outputTokensMax: 4_000,
  outputTokensDefault: 1_000,
  imageTokens: 2_000,
  price: PRICE,
  createdAtS: 0,
};
const SIZE: InputSize = { textBytes: 100, images: 0, mediaBytes: 0, unbounded: false, serverTools: false };

function requestFacts(over: Partial<RequestHead> = {}): RequestHead {
  return {
    model: "m",
    stream: false,
    outputTokensMax: undefined,
    outputLimitField: undefined,
    thinkingTokens: 0,
    choices: 1,
    wantsUsage: false,
    input: SIZE,
    ...over,
  };
}

interface PlanOptions extends Partial<Omit<QuotedPlan, "candidates" | "request">> {
  readonly isPassthrough?: boolean;
}

function quote(
  over: Partial<RequestHead> = {},
  { isPassthrough = true, model = MODEL, ...more }: PlanOptions = {},
): Quote {
  const candidates = model.routes.map((route) => ({ route, codec: { isPassthrough } }));
  const request = requestFacts(over);
  return quoteRequest({ model, request, candidates, textBytes: 0, mayClamp: false, ...more });
}

const quoteInput = (input: Partial<InputSize>, options: PlanOptions = {}) =>
  quote({ input: { ...SIZE, ...input } }, options).inputTokens;

describe("quoteRequest()", () => {
  test.each<[name: string, input: Partial<InputSize>, options: PlanOptions, tokens: number]>([
    ["the input is bounded by half its bytes, images apart", { textBytes: 101, images: 2 }, {}, 51 + 4_000],
    ["the input is bounded by the context window", { textBytes: 1_000_000 }, {}, 10_000],
    ["an unbounded input takes the whole context window", { textBytes: 10, unbounded: true }, {}, 10_000],
    ["a prompt that its provider may read twice is held for twice", { readings: 2 }, {}, 100],
    [
      "a larger translated body bounds the input",
      { images: 1, mediaBytes: 9_000 },
      { textBytes: 300 },
      2_150,
    ],
    ["a smaller translated body does not", { images: 1, mediaBytes: 9_000 }, { textBytes: 80 }, 2_050],
    ["a huge translated body is bounded by the window", { images: 1 }, { textBytes: 1_000_000 }, 10_000],
    ["a tool that runs at the upstream takes the whole window", { serverTools: true }, {}, 10_000],
    ["a tool that translation leaves out does not", { serverTools: true }, { isPassthrough: false }, 50],
  ])("%s", (_name, input, options, tokens) => expect(quoteInput(input, options)).toBe(tokens));

  test.each([
    ["no limit named", {}, false, 1_000, 256],
    ["own limit", { outputTokensMax: 500 }, false, 500, 500],
    ["own limit that may be clamped", { outputTokensMax: 500 }, true, 500, 256],
    ["own limit above the model's", { outputTokensMax: 9_000 }, false, 4_000, 4_000],
    ["tiny limit that may be clamped", { outputTokensMax: 10 }, true, 10, 10],
    ["reasoning budget above the default", { thinkingTokens: 2_000 }, false, 2_256, 2_256],
  ] as const)("a request with %s has its output bounds", (_, over, mayClamp, most, least) => {
    const quoted = quote(over, { mayClamp });
    expect([quoted.outputTokensMax, quoted.outputTokensMin]).toEqual([most, least]);
  });

  test("no usage within the bounds costs more than the quote", () => {
    const tokens = fc.integer({ min: 0, max: 10_000 });
    fc.assert(
      fc.property(
        tokens,
        tokens,
        fc.integer({ min: 1, max: 4 }),
        fc.constantFrom("inputTokens", "cachedInputTokens", "cacheWriteTokens", "cacheWrite1hTokens"),
        (input, output, choices, kind) => {
          const quoted = quote({ choices, input: { ...SIZE, textBytes: input * 2 } });
          const usage = {
            ...NO_USAGE,
            [kind]: input,
            outputTokens: Math.min(output, choices * quoted.outputTokensMax),
          };
          expect(costOf(usage, PRICE) <= amountOf(quoted, quoted.outputTokensMax)).toBe(true);
        },
      ),
    );
  });
});

describe("clampToGrant()", () => {
  test("the clamped limit is never below the minimum and never costs more than the grant", () => {
    const quoted = quote();
    const least = amountOf(quoted, quoted.outputTokensMin);
    const most = amountOf(quoted, quoted.outputTokensMax);
    fc.assert(
      fc.property(fc.bigInt({ min: least, max: most }), (granted) => {
        const clamped = clampToGrant(quoted, granted);
        expect(clamped.outputTokensMax).toBeGreaterThanOrEqual(quoted.outputTokensMin);
        expect(clamped.outputTokensMax).toBeLessThanOrEqual(quoted.outputTokensMax);
        expect(amountOf(clamped, clamped.outputTokensMax) <= granted).toBe(true);
        expect(
          amountOf(clamped, clamped.outputTokensMax + 1) > granted ||
            clamped.outputTokensMax === quoted.outputTokensMax,
        ).toBe(true);
      }),
    );
  });
});

describe("a request without output", () => {
  const embed = (over: Partial<InputSize> = {}, model = MODEL) =>
    quote({ outputTokensMax: 0, input: { ...SIZE, tokenIds: 20, ...over } }, { model, mayClamp: true });

  test.each([
    ["a model that writes too", MODEL],
    ["an embedding model", { ...MODEL, outputTokensMax: 0, outputTokensDefault: 0 }],
  ])("is quoted its input alone by %s", (_, model) => {
    const quoted = embed({}, model);
    expect(quoted).toMatchObject({ outputTokensMax: 0, outputTokensMin: 0, inputTokens: 50 });
    expect(tokensOf(quoted)).toBe(50);
    expect(amountOf(quoted, quoted.outputTokensMax)).toBe(50n * 6_000n);
  });

  test("fits a grant and a minute unchanged, or is refused", () => {
    const quoted = embed();
    expect(clampToGrant(quoted, amountOf(quoted, quoted.outputTokensMin))).toBe(quoted);
    expect(clampToMinute(quoted, 50)).toBe(quoted);
    expect(() => clampToMinute(quoted, 49)).toThrow("too_many_tokens");
    expect(() => clampToMinute(quoted, 0)).toThrow("too_many_tokens");
  });

  test("may fill the context window with each of its prompts", () => {
    expect(embed({ textBytes: 90_000, prompts: 3 }).inputTokens).toBe(30_000);
    expect(embed({ textBytes: 40_000, prompts: 3 }).inputTokens).toBe(20_000);
    expect(embed({ textBytes: 10, prompts: 3, unbounded: true }).inputTokens).toBe(30_000);
  });
});

test("a quote whose output is free fits its grant unchanged", () => {
  const routes = MODEL.routes.map((route) => ({ ...route, price: { ...PRICE, output: 0n } }));
  const quoted = quote({}, { model: { ...MODEL, routes }, mayClamp: true });
  expect(clampToGrant(quoted, amountOf(quoted, quoted.outputTokensMin))).toBe(quoted);
});

describe("clampToMinute()", () => {
  test("an output limit of the gateway is lowered to what a minute admits", () =>
    expect(tokensOf(clampToMinute(quote(), 800))).toBe(800));

  test("a quote that no minute admits is refused, because waiting for a 429 would not help", () => {
    expect(() => clampToMinute(quote({ outputTokensMax: 1_000 }), 800)).toThrow("too_many_tokens");
    expect(() => clampToMinute(quote(), 200)).toThrow("too_many_tokens");
  });
});
