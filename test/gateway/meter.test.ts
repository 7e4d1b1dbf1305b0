import { describe, expect, test } from "bun:test";
import { inputTokensOf, type Usage } from "../../src/domain/usage.ts";
import { LONG_PRICE, type OpenHoldOptions, openHold } from "./held-request.ts";

const WIDE = { route: { betas: ["context-1m-*"] }, betas: ["context-1m-2025-08-07"] } as const;
const SERVED = { input: { serverTools: true } } as const;

/** Input, output, and what they were cut to; `undefined` when they are not counted. */
const ROWS: readonly (readonly [
  name: string,
  options: OpenHoldOptions,
  reported: [number, number],
  counted: [number, number] | undefined,
])[] = [
  ["a usage within the bounds stays", {}, [9_000, 900], [9_000, 900]],
  ["a usage of exactly the bounds stays", {}, [10_000, 1_100], [10_000, 1_100]],
  ["one token above the window is cut", {}, [10_001, 1], [10_000, 1]],
  ["a tiny prompt cannot explain a huge report", {}, [700_000, 1], [10_000, 1]],
  ["output above the ceiling and a tenth is cut", {}, [10, 1_101], [10, 1_100]],
  ["both are cut at once", {}, [1e9, 1e9], [10_000, 1_100]],
  ["a negative number is not counted", {}, [-1, 5], undefined],
  ["half a token is not counted", {}, [10.5, 5], undefined],
  ["NaN is not counted", {}, [Number.NaN, 5], undefined],
  ["infinity is not counted", {}, [10, Number.POSITIVE_INFINITY], undefined],
  ["a sum that is no safe integer is not counted", {}, [Number.MAX_SAFE_INTEGER, 5], undefined],
  ["tools at the provider explain a sum of windows", SERVED, [950_648, 13_856], [950_648, 13_856]],
  ["tools at the provider do not explain anything", SERVED, [1e12, 1], [10_000_000, 1]],
  [
    "tools that translation leaves out explain nothing",
    { ...SERVED, isVerbatim: false },
    [950_648, 1],
    [10_000, 1],
  ],
  ["an allowed beta widens the window as its name says", WIDE, [700_000, 1], [700_000, 1]],
  ["an allowed beta has its own bound", WIDE, [1_000_001, 1], [1_000_000, 1]],
  ["a beta that is not allowed widens nothing", { betas: WIDE.betas }, [700_000, 1], [10_000, 1]],
  ["a beta that nobody asks for widens nothing", { route: WIDE.route }, [700_000, 1], [10_000, 1]],
  ["a beta is not sent to a translated upstream", { ...WIDE, isVerbatim: false }, [700_000, 1], [10_000, 1]],
  [
    "the operator says how wide the window is",
    { ...WIDE, model: { longContext: { contextWindow: 500_000, aboveInputTokens: 10_000 } } },
    [700_000, 1],
    [500_000, 1],
  ],
  ["a prompt that is compacted is read twice", { input: { readings: 2 } }, [15_000, 1_300], [15_000, 1_300]],
  ["and not three times", { input: { readings: 2 } }, [20_001, 1], [20_000, 1]],
  ["many prompts have a window each", { input: { prompts: 3 } }, [29_000, 0], [29_000, 0]],
];

describe("what a meter counts of a report", () => {
  test.each([...ROWS])("%s", (_name, options, [inputTokens, outputTokens], counted) => {
    const { meter } = openHold({ ...options, usage: { inputTokens, outputTokens } });
    const reported = meter.reported();
    expect(reported && [inputTokensOf(reported), reported.outputTokens]).toEqual(counted);
    expect(meter.disbelieves).toBe(counted === undefined);
    const isCut = counted !== undefined && (counted[0] !== inputTokens || counted[1] !== outputTokens);
    expect(meter.excess()?.reported).toEqual(
      isCut ? expect.objectContaining({ inputTokens, outputTokens }) : undefined,
    );
  });

  test.each<[name: string, reported: Partial<Usage>, cut: Partial<Usage>]>([
    [
      "the cheapest class goes first",
      { cachedInputTokens: 50_000, inputTokens: 4_000, cacheWriteTokens: 3_000 },
      { cachedInputTokens: 3_000, inputTokens: 4_000, cacheWriteTokens: 3_000 },
    ],
    [
      "then the next one, and the dearest stays",
      { cachedInputTokens: 5_000, inputTokens: 20_000, cacheWrite1hTokens: 9_000 },
      { cachedInputTokens: 0, inputTokens: 1_000, cacheWrite1hTokens: 9_000 },
    ],
    ["a single class is cut itself", { cacheWrite1hTokens: 20_000 }, { cacheWrite1hTokens: 10_000 }],
  ])("of classes above the window, %s", (_name, usage, cut) => {
    expect(openHold({ usage }).meter.reported()).toMatchObject(cut);
  });

  test("a later report replaces an earlier one, and another route forgets both", () => {
    const { meter, route } = openHold({ usage: { inputTokens: 20_000 } });
    expect(meter.excess()).toBeDefined();
    const part = { text: "", isOutput: false, isReadable: false, generated: "" };
    const usage = {
      inputTokens: 1,
      cachedInputTokens: 2,
      cacheWriteTokens: 3,
      cacheWrite1hTokens: 4,
      outputTokens: 5,
    };
    meter.add({ ...part, usage });
    expect([meter.reported(), meter.excess()]).toEqual([usage, undefined]);
    meter.restart(route);
    expect([meter.reported(), meter.disbelieves]).toEqual([undefined, false]);
  });
});

describe("what has accrued", () => {
  test.each<[name: string, options: OpenHoldOptions, accrued: bigint]>([
    ["nothing before the client was shown some", { usage: { inputTokens: 9_000 }, generated: "ab" }, 0n],
    ["the report", { isShown: true, usage: { inputTokens: 10, outputTokens: 3 } }, 16_000n],
    ["a report above the bound up to it", { isShown: true, usage: { inputTokens: 20_000 } }, 10_000_000n],
    ["a guess without a report", { isShown: true, generated: "12345678" }, 104_000n],
    [
      "a long prompt at its price",
      {
        ...WIDE,
        isShown: true,
        usage: { inputTokens: 20_000 },
        route: { ...WIDE.route, longPrice: LONG_PRICE },
        model: { longContext: { contextWindow: undefined, aboveInputTokens: 10_000 } },
      },
      40_000_000n,
    ],
  ])("is %s", (_name, options, accrued) => {
    expect(openHold(options).meter.accrued()).toBe(accrued);
  });
});
