import { describe, expect, test } from "bun:test";
import { inputTokensOf, type Usage } from "../../src/domain/usage.ts";
import { createMeteredRequest, LONG_PRICE, type MeteredOptions } from "./held-request.ts";

const WIDE = { route: { betas: ["context-1m-*"] }, betas: ["context-1m-2025-08-07"] } as const;
const SERVED = { input: { serverTools: true } } as const;

/** Input, output, and what they were cut to; `undefined` when they are not counted. */
const ROWS: readonly (readonly [
  name: string,
  options: MeteredOptions,
  reported: [number, number],
  counted: [number, number] | undefined,
])[] = [
  ["a usage within the bounds is unchanged", {}, [9_000, 900], [9_000, 900]],
  ["a usage of exactly the bounds is unchanged", {}, [10_000, 1_100], [10_000, 1_100]],
  ["one token above the window is cut", {}, [10_001, 1], [10_000, 1]],
  ["a huge report for a tiny prompt is cut to the window", {}, [700_000, 1], [10_000, 1]],
  ["output above the limit and a tenth is cut", {}, [10, 1_101], [10, 1_100]],
  ["input and output are cut at once", {}, [1e9, 1e9], [10_000, 1_100]],
  ["a negative number is not counted", {}, [-1, 5], undefined],
  ["half a token is not counted", {}, [10.5, 5], undefined],
  ["NaN is not counted", {}, [Number.NaN, 5], undefined],
  ["infinity is not counted", {}, [10, Number.POSITIVE_INFINITY], undefined],
  ["a sum that is no safe integer is not counted", {}, [Number.MAX_SAFE_INTEGER, 5], undefined],
  ["a request with provider tools may report a sum of windows", SERVED, [950_648, 13_856], [950_648, 13_856]],
  ["a request with provider tools is cut to a thousand readings", SERVED, [1e12, 1], [10_000_000, 1]],
  [
    "provider tools that translation leaves out do not raise the bound",
    { ...SERVED, isPassthrough: false },
    [950_648, 1],
    [10_000, 1],
  ],
  ["an allowed beta widens the window as its name says", WIDE, [700_000, 1], [700_000, 1]],
  ["one token above the window of an allowed beta is cut", WIDE, [1_000_001, 1], [1_000_000, 1]],
  [
    "a beta that the route does not allow leaves the window unchanged",
    { betas: WIDE.betas },
    [700_000, 1],
    [10_000, 1],
  ],
  [
    "a beta that the client does not name leaves the window unchanged",
    { route: WIDE.route },
    [700_000, 1],
    [10_000, 1],
  ],
  [
    "a beta leaves the window of a translated request unchanged",
    { ...WIDE, isPassthrough: false },
    [700_000, 1],
    [10_000, 1],
  ],
  [
    "a configured window overrides the width in the name of the beta",
    { ...WIDE, model: { longContext: { contextWindow: 500_000, aboveInputTokens: 10_000 } } },
    [700_000, 1],
    [500_000, 1],
  ],
  [
    "a prompt that is compacted may be reported twice",
    { input: { readings: 2 } },
    [15_000, 1_300],
    [15_000, 1_300],
  ],
  ["a prompt that is compacted is cut to two windows", { input: { readings: 2 } }, [20_001, 1], [20_000, 1]],
  ["each of several prompts may fill a window", { input: { prompts: 3 } }, [29_000, 0], [29_000, 0]],
];

describe("the usage that a meter counts", () => {
  test.each([...ROWS])("%s", (_name, options, [inputTokens, outputTokens], counted) => {
    const { meter } = createMeteredRequest({ ...options, usage: { inputTokens, outputTokens } });
    const reported = meter.reported();
    expect(reported && [inputTokensOf(reported), reported.outputTokens]).toEqual(counted);
    expect(meter.isUsageRejected).toBe(counted === undefined);
    const isCut = counted !== undefined && (counted[0] !== inputTokens || counted[1] !== outputTokens);
    expect(meter.excess()?.reported).toEqual(
      isCut ? expect.objectContaining({ inputTokens, outputTokens }) : undefined,
    );
  });

  test.each<[name: string, reported: Partial<Usage>, cut: Partial<Usage>]>([
    [
      "the cheapest class is cut first",
      { cachedInputTokens: 50_000, inputTokens: 4_000, cacheWriteTokens: 3_000 },
      { cachedInputTokens: 3_000, inputTokens: 4_000, cacheWriteTokens: 3_000 },
    ],
    [
      "the next class is cut when the cheapest is 0, and the dearest is unchanged",
      { cachedInputTokens: 5_000, inputTokens: 20_000, cacheWrite1hTokens: 9_000 },
      { cachedInputTokens: 0, inputTokens: 1_000, cacheWrite1hTokens: 9_000 },
    ],
    ["a single class is cut to the window", { cacheWrite1hTokens: 20_000 }, { cacheWrite1hTokens: 10_000 }],
  ])("with input above the window, %s", (_name, usage, cut) => {
    expect(createMeteredRequest({ usage }).meter.reported()).toMatchObject(cut);
  });

  test("a later report replaces an earlier one, and another candidate starts without any", () => {
    const { meter } = createMeteredRequest({ usage: { inputTokens: 20_000 } });
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
    const { candidate } = meter;
    if (candidate) meter.restart(candidate);
    expect([meter.reported(), meter.isUsageRejected]).toEqual([undefined, false]);
  });
});

describe("the accrued cost", () => {
  test.each<[name: string, options: MeteredOptions, accrued: bigint]>([
    ["is nothing before the client saw output", { usage: { inputTokens: 9_000 }, generated: "ab" }, 0n],
    [
      "is the cost of the report",
      { isCommitted: true, usage: { inputTokens: 10, outputTokens: 3 } },
      16_000n,
    ],
    [
      "is the cost of the bound for a report above it",
      { isCommitted: true, usage: { inputTokens: 20_000 } },
      10_000_000n,
    ],
    ["is an estimate without a report", { isCommitted: true, generated: "12345678" }, 104_000n],
    [
      "is at the long price for a long prompt",
      {
        ...WIDE,
        isCommitted: true,
        usage: { inputTokens: 20_000 },
        route: { ...WIDE.route, longPrice: LONG_PRICE },
        model: { longContext: { contextWindow: undefined, aboveInputTokens: 10_000 } },
      },
      40_000_000n,
    ],
  ])("%s", (_name, options, accrued) => expect(createMeteredRequest(options).meter.accrued()).toBe(accrued));
});
