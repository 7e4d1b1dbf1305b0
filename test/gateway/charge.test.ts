import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { costOf } from "../../src/domain/model.ts";
import { inputTokensOf, NO_USAGE, type Usage } from "../../src/domain/usage.ts";
import { chargeFor } from "../../src/gateway/charge.ts";
import type { ClientDisconnect } from "../../src/gateway/gateway.ts";
import { failed, type Outcome, unrepresentable } from "../../src/gateway/request.ts";
import type { ChargeSource } from "../../src/ledger/records.ts";
import type { TokenCounter } from "../../src/tokens/count-tokens.ts";
import { usageOf } from "../domain/arbitraries.ts";
import { TEST_PRICE } from "../support/test-catalog.ts";
import { createMeteredRequest, LONG_PRICE, type MeteredOptions } from "./held-request.ts";

/** Counts 30 tokens of any prompt and 4 of any output. */
function counterOf(asked: { isPatient?: boolean }[] = [], inputTokens = 30): TokenCounter {
  return {
    hurry() {},
    close() {},
    async count({ input, output, isPatient = false }) {
      asked.push({ isPatient });
      return { inputTokens: input === "" ? 0 : inputTokens, outputTokens: output === "" ? 0 : 4 };
    },
  };
}

const FINISHED: Outcome = { kind: "finished", ending: "" };
const EMPTY: Outcome = { kind: "empty" };
const FAILED = failed("upstream_unavailable");
const UNREPRESENTABLE = unrepresentable("for a reason");
const DISCONNECTED: Outcome = { kind: "client_disconnected", isSent: true };
const DISCONNECTED_UNSENT: Outcome = { kind: "client_disconnected", isSent: false };

const REPORT = { usage: { inputTokens: 10, outputTokens: 3 } };
const OUTPUT = { generated: "some words" };
const COMMITTED = { ...OUTPUT, isCommitted: true };
const START = { usage: { inputTokens: 10, outputTokens: 1 } };
const BAD = { usage: { inputTokens: -10, outputTokens: 3 } };

/** Tokens of input and output that are charged, `undefined` for nothing. */
type Tokens = [input: number, output: number] | undefined;
type Row = readonly [name: string, Outcome, MeteredOptions, Tokens, ChargeSource];

const ROWS: readonly Row[] = [
  ["a finished answer costs what was reported", FINISHED, REPORT, [10, 3], "reported"],
  ["a finished answer that reports zero costs nothing", FINISHED, { usage: {} }, [0, 0], "reported"],
  ["a finished answer without a report is counted", FINISHED, OUTPUT, [30, 4], "estimated"],
  [
    "a finished answer whose report cannot be counted is counted",
    FINISHED,
    { ...OUTPUT, usage: { inputTokens: -10, outputTokens: -3 } },
    [30, 4],
    "estimated",
  ],
  [
    "a finished answer whose input cannot be counted costs its output as reported, also below the count",
    FINISHED,
    { ...OUTPUT, ...BAD },
    [30, 3],
    "estimated",
  ],
  [
    "a finished answer whose input cannot be counted and whose output is 0 costs no output",
    FINISHED,
    { ...OUTPUT, usage: { inputTokens: Number.NaN, outputTokens: 0 } },
    [30, 0],
    "estimated",
  ],
  [
    "an output above its bound leaves the input as reported",
    FINISHED,
    { ...OUTPUT, usage: { inputTokens: 10, outputTokens: 5_000 } },
    [10, 1_100],
    "estimated",
  ],
  [
    "a finished answer whose output cannot be counted costs its input as reported",
    FINISHED,
    { ...OUTPUT, usage: { inputTokens: 5_000, outputTokens: Number.NaN } },
    [5_000, 4],
    "estimated",
  ],
  [
    "a finished answer whose input cannot be counted costs its output as reported",
    FINISHED,
    { ...OUTPUT, usage: { inputTokens: Number.NaN, outputTokens: 900 } },
    [30, 900],
    "estimated",
  ],
  [
    "an empty answer whose output cannot be counted costs its input as reported",
    EMPTY,
    { usage: { inputTokens: 5_000, outputTokens: Number.NaN } },
    [5_000, 0],
    "estimated",
  ],
  ["an unrepresentable answer costs what was reported", UNREPRESENTABLE, REPORT, [10, 3], "reported"],
  ["an empty answer costs what was reported", EMPTY, REPORT, [10, 3], "reported"],
  ["an empty answer without a report is free", EMPTY, {}, undefined, "none"],
  ["an empty answer whose report cannot be counted is free", EMPTY, BAD, undefined, "none"],
  ["a failure before the client saw output is free", FAILED, { ...OUTPUT, ...REPORT }, undefined, "none"],
  [
    "a failure after the client saw output costs input and output so far",
    FAILED,
    { ...COMMITTED, ...START },
    [10, 4],
    "estimated",
  ],
  [
    "a failure after the client saw output is counted without a report",
    FAILED,
    COMMITTED,
    [30, 4],
    "estimated",
  ],
  [
    "a client that disconnects before any upstream is called pays nothing",
    DISCONNECTED_UNSENT,
    {},
    undefined,
    "none",
  ],
  [
    "a client that disconnects between two attempts pays nothing for the first",
    DISCONNECTED_UNSENT,
    { ...OUTPUT, ...START },
    undefined,
    "none",
  ],
  [
    "a client that disconnects before any output pays the input as counted",
    DISCONNECTED,
    {},
    [30, 0],
    "estimated",
  ],
  [
    "a client that disconnects before any output pays the input as reported, and no token of the start",
    DISCONNECTED,
    START,
    [10, 0],
    "estimated",
  ],
  [
    "a client that disconnects after output pays input and output",
    DISCONNECTED,
    { ...OUTPUT, ...START },
    [10, 4],
    "estimated",
  ],
  [
    "images without a report cost what they were held for",
    DISCONNECTED,
    { input: { images: 1, textBytes: 8_000 } },
    [2_030, 0],
    "estimated",
  ],
  [
    "token ids are added to the count of the text",
    FINISHED,
    { input: { tokenIds: 50 } },
    [80, 0],
    "estimated",
  ],
  ["a count never exceeds the quote", DISCONNECTED, { input: { textBytes: 20 } }, [10, 0], "estimated"],
];

const charge = (
  outcome: Outcome,
  options: MeteredOptions,
  clientDisconnect: ClientDisconnect = "charge_input",
) => chargeFor(outcome, createMeteredRequest(options), { tokens: counterOf(), clientDisconnect });

describe("the charge by outcome", () => {
  test.each([...ROWS])("%s", async (_name, outcome, options, tokens, source) => {
    const charged = await charge(outcome, options);
    const usage = tokens && { ...NO_USAGE, inputTokens: tokens[0], outputTokens: tokens[1] };
    expect(charged).toEqual({
      source,
      usage,
      amount: usage ? costOf(usage, TEST_PRICE) : 0n,
      price: usage && TEST_PRICE,
      upstreamCost: usage ? undefined : 0n,
    });
  });

  test.each<[name: string, MeteredOptions, source: ChargeSource]>([
    ["a client that disconnects before any output pays nothing", {}, "none"],
    ["a client that disconnects before any output pays nothing of a report", START, "none"],
    ["a client that disconnects after output pays input and output", { ...OUTPUT, ...START }, "estimated"],
  ])("with client_disconnect: free, %s", async (_name, options, source) => {
    expect((await charge(DISCONNECTED, options, "free")).source).toBe(source);
  });

  test.each<[name: string, Outcome, isPatient: boolean]>([
    ["a client that has disconnected makes the count patient", DISCONNECTED, true],
    ["a client that waits for the end of its answer limits the count", FINISHED, false],
    ["a client that waits for its error limits the count", FAILED, false],
  ])("%s", async (_name, outcome, isPatient) => {
    const asked: { isPatient?: boolean }[] = [];
    await chargeFor(outcome, createMeteredRequest(COMMITTED), {
      tokens: counterOf(asked),
      clientDisconnect: "charge_input",
    });
    expect(asked).toEqual([{ isPatient }]);
  });
});

test("a prompt that was lost with its worker is charged by its size", async () => {
  const hold = createMeteredRequest({ ...COMMITTED, input: { textBytes: 4_000 } });
  const lost = () => Promise.reject(new Error("The body worker ended"));
  const gateway = { tokens: counterOf(), clientDisconnect: "charge_input" } as const;
  const charged = await chargeFor(FINISHED, { ...hold, body: { ...hold.body, promptText: lost } }, gateway);
  expect([charged.source, charged.usage?.inputTokens]).toEqual(["estimated", 1_000]);
});

describe("a report above the bound", () => {
  test("is charged up to the bound, and keeps its dearest classes", async () => {
    const usage = { inputTokens: 700_000, outputTokens: 5_000 };
    expect(await charge(FINISHED, { usage })).toMatchObject({
      amount: 10_000n * 1_000n + 1_100n * 2_000n,
      source: "estimated",
      usage: { inputTokens: 10_000, outputTokens: 1_100 },
    });
  });

  test("is never charged less than a local count, however cheap its classes are", async () => {
    const options = { usage: { cachedInputTokens: 700_000 }, input: { textBytes: 20_000 } };
    const holdOf = () => createMeteredRequest(options);
    const counted = (inputTokens: number) =>
      chargeFor(FINISHED, holdOf(), { tokens: counterOf([], inputTokens), clientDisconnect: "charge_input" });
    // 10,000 cached tokens cost as much as 1,000 others.
    expect(await counted(900)).toMatchObject({ amount: 1_000_000n, usage: { cachedInputTokens: 10_000 } });
    expect(await counted(9_000)).toMatchObject({ amount: 9_000_000n, usage: { inputTokens: 9_000 } });
  });

  test("is never charged less than the bound costs at the mix of its classes", async () => {
    const tokens = fc.nat({ max: 1_000_000 });
    await fc.assert(
      fc.asyncProperty(usageOf(tokens), async (usage) => {
        const { amount } = await charge(FINISHED, { usage });
        expect(amount).toBeGreaterThanOrEqual(byMix(usage) - 1n);
        expect(amount).toBeLessThanOrEqual(costOf(usage, TEST_PRICE) > 0n ? 22_200_000n : 0n);
      }),
    );
  });

  /** The cost of a full window in the proportions of the report. */
  function byMix(usage: Usage): bigint {
    const { outputTokens } = usage;
    const sum = inputTokensOf(usage);
    const inputCost = costOf({ ...usage, outputTokens: 0 }, TEST_PRICE);
    const outputCost = costOf({ ...NO_USAGE, outputTokens: Math.min(outputTokens, 1_100) }, TEST_PRICE);
    return (sum > 10_000 ? (inputCost * 10_000n) / BigInt(sum) : inputCost) + outputCost;
  }
});

describe("a long prompt", () => {
  const options = (inputTokens: number, more: MeteredOptions = {}): MeteredOptions => ({
    usage: { inputTokens, outputTokens: 1 },
    betas: ["context-1m-2025-08-07"],
    ...more,
    route: { betas: ["context-1m-2025-08-07"], longPrice: LONG_PRICE, ...more.route },
    model: { longContext: { contextWindow: 50_000, aboveInputTokens: 10_000 }, ...more.model },
  });

  test.each<[name: string, MeteredOptions, price: typeof TEST_PRICE]>([
    ["is charged the long price from one token above the threshold on", options(10_001), LONG_PRICE],
    ["is charged the usual price up to the threshold", options(10_000), TEST_PRICE],
    [
      "is charged the usual price on a route without a long price",
      options(10_001, { route: { longPrice: undefined } }),
      TEST_PRICE,
    ],
    [
      "is charged the long price without any beta when the window exceeds the threshold",
      options(6_000, {
        betas: [],
        model: { longContext: { contextWindow: undefined, aboveInputTokens: 5_000 } },
      }),
      LONG_PRICE,
    ],
    [
      "is charged the usual price when it is a sum over many short prompts",
      options(90_000, { betas: [], input: { serverTools: true } }),
      TEST_PRICE,
    ],
  ])("%s", async (_name, given, price) => {
    const charged = await charge(FINISHED, given);
    expect(charged.price).toBe(price);
    expect(charged.amount).toBe(costOf({ ...NO_USAGE, ...given.usage }, price));
  });
});
