import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { costOf, type Model, type Price, type Route } from "../../src/domain/model.ts";
import { NO_USAGE } from "../../src/domain/usage.ts";
import {
  amountOf,
  fitGrant,
  fitMinute,
  fitText,
  type Quote,
  quoteRequest,
  tokensOf,
} from "../../src/gateway/quote.ts";
import type { CodecSession } from "../../src/wire/codec-session.ts";
import type { ModelRequest } from "../../src/wire/model-request.ts";
import { openaiChat } from "../../src/wire/openai-chat/protocol.ts";
import { findProtocolPair } from "../../src/wire/protocol-pair.ts";

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

function request(over: Partial<ModelRequest> = {}): ModelRequest {
  return {
    text: "",
    model: "m",
    stream: false,
    outputTokensMax: undefined,
    outputLimitField: undefined,
    thinkingTokens: 0,
    choices: 1,
    wantsUsage: false,
    input: { textBytes: 100, images: 0, mediaBytes: 0, unbounded: false, serverTools: false },
    promptText: () => "",
    readChat: () => {
      throw new Error("Nothing is translated here");
    },
    ...over,
  };
}

/** Ways to the routes; what is said on them matters to nobody here. */
function waysOf(routes: readonly Route[], isPassthrough = true): ReadonlyMap<Route, CodecSession> {
  const exchange = findProtocolPair(openaiChat, ["chat"]);
  const dialogue = exchange?.begin(request(), request().readChat);
  if (!dialogue) throw new Error("There is no way");
  return new Map(routes.map((route) => [route, { ...dialogue, isPassthrough }]));
}

function quote(over: Partial<ModelRequest> = {}, mayClamp = false): Quote {
  return quoteRequest({
    model: MODEL,
    ways: waysOf(MODEL.routes),
    request: request(over),
    mayClamp,
  });
}

describe("quoteRequest()", () => {
  test("bounds the input by half its bytes, images apart", () => {
    expect(
      quote({ input: { textBytes: 101, images: 2, mediaBytes: 0, unbounded: false, serverTools: false } })
        .inputTokens,
    ).toBe(51 + 4_000);
  });

  test("bounds the input by the context window, and takes that for what it cannot see", () => {
    expect(
      quote({
        input: { textBytes: 1_000_000, images: 0, mediaBytes: 0, unbounded: false, serverTools: false },
      }).inputTokens,
    ).toBe(10_000);
    expect(
      quote({ input: { textBytes: 10, images: 0, mediaBytes: 0, unbounded: true, serverTools: false } })
        .inputTokens,
    ).toBe(10_000);
  });

  test.each([
    ["no limit named", {}, false, 1_000, 256],
    ["own limit", { outputTokensMax: 500 }, false, 500, 500],
    ["own limit, may be lowered", { outputTokensMax: 500 }, true, 500, 256],
    ["own limit above the model's", { outputTokensMax: 9_000 }, false, 4_000, 4_000],
    ["tiny limit, may be lowered", { outputTokensMax: 10 }, true, 10, 10],
    ["reasoning budget above the default", { thinkingTokens: 2_000 }, false, 2_256, 2_256],
  ] as const)("%s: ceiling and floor follow", (_, over, mayClamp, ceiling, floor) => {
    const made = quote(over, mayClamp);
    expect([made.ceiling, made.floor]).toEqual([ceiling, floor]);
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
          const made = quote({
            choices,
            input: { textBytes: input * 2, images: 0, mediaBytes: 0, unbounded: false, serverTools: false },
          });
          const usage = {
            ...NO_USAGE,
            [kind]: input,
            outputTokens: Math.min(output, choices * made.ceiling),
          };
          expect(costOf(usage, PRICE) <= amountOf(made, made.ceiling)).toBe(true);
        },
      ),
    );
  });
});

test("a prompt that its provider may read twice is held for twice", () => {
  const input = { textBytes: 100, images: 0, mediaBytes: 0, unbounded: false, serverTools: false };
  expect(quote({ input: { ...input, readings: 2 } }).inputTokens).toBe(100);
});

describe("fitGrant()", () => {
  test("the lowered ceiling is never below the floor and never costs more than the grant", () => {
    const made = quote();
    const least = amountOf(made, made.floor);
    const most = amountOf(made, made.ceiling);
    fc.assert(
      fc.property(fc.bigInt({ min: least, max: most }), (granted) => {
        const fitted = fitGrant(made, granted);
        expect(fitted.ceiling).toBeGreaterThanOrEqual(made.floor);
        expect(fitted.ceiling).toBeLessThanOrEqual(made.ceiling);
        expect(amountOf(fitted, fitted.ceiling) <= granted).toBe(true);
        expect(amountOf(fitted, fitted.ceiling + 1) > granted || fitted.ceiling === made.ceiling).toBe(true);
      }),
    );
  });
});

test("a body that translation makes larger is bounded as it is sent, and a smaller one as it came", () => {
  const asked = quote({
    input: { textBytes: 100, images: 1, mediaBytes: 9_000, unbounded: false, serverTools: false },
  });
  expect([fitText(asked, 300), fitText(asked, 80)].map(({ inputTokens }) => inputTokens)).toEqual([
    2_150, 2_050,
  ]);
  expect(fitText(asked, 1_000_000).inputTokens).toBe(10_000);
});

test("a tool that runs at the upstream fills the context window, but not where translation leaves it out", () => {
  const input = { textBytes: 100, images: 0, mediaBytes: 0, unbounded: false, serverTools: true };
  const bound = (isPassthrough: boolean) =>
    quoteRequest({
      model: MODEL,
      ways: waysOf(MODEL.routes, isPassthrough),
      request: request({ input }),
      mayClamp: false,
    }).inputTokens;
  expect([bound(true), bound(false)]).toEqual([10_000, 50]);
});

describe("a request without output", () => {
  const tokenIds = {
    textBytes: 100,
    images: 0,
    mediaBytes: 0,
    unbounded: false,
    serverTools: false,
    tokenIds: 20,
  };
  const embed = (over: Partial<ModelRequest["input"]> = {}, model = MODEL) =>
    quoteRequest({
      model,
      ways: waysOf(model.routes),
      request: request({ outputTokensMax: 0, input: { ...tokenIds, ...over } }),
      mayClamp: true,
    });

  test.each([
    ["one that writes too", MODEL],
    ["one that only embeds", { ...MODEL, outputTokensMax: 0, outputTokensDefault: 0 }],
  ])("is quoted its input alone, of a model that is %s", (_, model) => {
    const made = embed({}, model);
    expect(made).toMatchObject({ ceiling: 0, floor: 0, inputTokens: 50 });
    expect(tokensOf(made)).toBe(50);
    expect(amountOf(made, made.ceiling)).toBe(50n * 6_000n);
  });

  test("fits a grant and a minute as it is, or no minute at all", () => {
    const made = embed();
    expect(fitGrant(made, amountOf(made, made.floor))).toBe(made);
    expect(fitMinute(made, 50)).toBe(made);
    expect(() => fitMinute(made, 49)).toThrow("too_many_tokens");
    expect(() => fitMinute(made, 0)).toThrow("too_many_tokens");
  });

  test("may fill the context window with each of its prompts", () => {
    expect(embed({ textBytes: 90_000, prompts: 3 }).inputTokens).toBe(30_000);
    expect(embed({ textBytes: 40_000, prompts: 3 }).inputTokens).toBe(20_000);
    expect(embed({ textBytes: 10, prompts: 3, unbounded: true, serverTools: false }).inputTokens).toBe(
      30_000,
    );
  });

  test("and output that is free divide nothing by their price", () => {
    const price = { ...PRICE, output: 0n };
    const routes = MODEL.routes.map((route) => ({ ...route, price }));
    const made = quoteRequest({ model: MODEL, ways: waysOf(routes), request: request(), mayClamp: true });
    expect(fitGrant(made, amountOf(made, made.floor))).toBe(made);
  });
});

describe("fitMinute()", () => {
  test("lowers a ceiling of ours to what a minute admits", () => {
    expect(tokensOf(fitMinute(quote(), 800))).toBe(800);
  });

  test("refuses what no minute can admit, instead of a 429 that waiting would not cure", () => {
    expect(() => fitMinute(quote({ outputTokensMax: 1_000 }), 800)).toThrow("too_many_tokens");
    expect(() => fitMinute(quote(), 200)).toThrow("too_many_tokens");
  });
});
