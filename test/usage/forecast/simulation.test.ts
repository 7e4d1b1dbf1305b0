import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createMemoryLimiter } from "../../../src/limiter/memory.ts";
import { type PastRequest, replayLimits, type TriedLimits } from "../../../src/usage/forecast/simulation.ts";

const START_MS = Date.UTC(2026, 10, 20);
const DAY_MS = 86_400_000;

/** A request at a second of the day, which takes a second and 10 tokens, and costs 1 nano-USD. */
function at(second: number, more: Partial<PastRequest> = {}): PastRequest {
  const arrivedAtMs = START_MS + second * 1_000;
  return { arrivedAtMs, endedAtMs: arrivedAtMs + 1_000, tokens: 10, cost: 1n, hadHold: true, ...more };
}

const refusedOf = async (requests: readonly PastRequest[], limits: TriedLimits) =>
  (await replayLimits(requests, limits)).map(({ limit, refused, firstAtMs }) => [
    limit,
    refused,
    (firstAtMs - START_MS) / 1_000,
  ]);

describe("a replay of past requests", () => {
  test("refuses nothing without limits, and nothing of no requests", async () => {
    expect(await refusedOf([at(0), at(0)], {})).toEqual([]);
    expect(await refusedOf([], { requestsPerMinute: 0 })).toEqual([]);
  });

  test("counts a refused request in no window, so that the next minute is free", async () => {
    const requests = [at(0), at(1), at(2), at(60), at(61), at(62)];
    expect(await refusedOf(requests, { requestsPerMinute: 2 })).toEqual([["requests_per_minute", 2, 2]]);
  });

  test("counts tokens as used, and a limit of 0 refuses also requests without tokens", async () => {
    expect(await refusedOf([at(0), at(1), at(2, { tokens: 0 })], { tokensPerMinute: 15 })).toEqual([
      ["tokens_per_minute", 1, 1],
    ]);
    expect(await refusedOf([at(0, { tokens: 0 })], { tokensPerMinute: 0 })).toEqual([
      ["tokens_per_minute", 1, 0],
    ]);
  });

  test("counts concurrency by overlap: a request that ends as another arrives does not overlap it", async () => {
    const requests = [at(0), at(0.5), at(1), at(5)];
    expect(await refusedOf(requests, { concurrentRequests: 1 })).toEqual([["concurrent_requests", 1, 0.5]]);
    expect(await refusedOf(requests, { concurrentRequests: 0 })).toEqual([["concurrent_requests", 4, 0]]);
  });

  test("counts money per period in the zone of the limit", async () => {
    const requests = [at(0), at(1), at(86_399), at(86_400)];
    const spendingLimit = { amount: 2n, period: "day" } as const;
    expect(await refusedOf(requests, { spendingLimit })).toEqual([["spending_limit", 1, 86_399]]);
    const zoned = { ...spendingLimit, timeZone: "Asia/Kolkata" };
    expect(await refusedOf(requests, { spendingLimit: zoned })).toEqual([]);
  });

  test("refuses a free request that held money once nothing is left", async () => {
    const spendingLimit = { amount: 1n, period: "total" } as const;
    const free = at(1, { cost: 0n });
    expect(await refusedOf([at(0), free], { spendingLimit })).toEqual([["spending_limit", 1, 1]]);
    expect(await refusedOf([at(0), { ...free, hadHold: false }], { spendingLimit })).toEqual([]);
  });

  test("counts a request that several limits refuse once, for the first of them", async () => {
    const limits = { requestsPerMinute: 1, tokensPerMinute: 10, concurrentRequests: 1 };
    expect(await refusedOf([at(0), at(0.1)], limits)).toEqual([["requests_per_minute", 1, 0.1]]);
  });

  test("refuses exactly what the limiter would have refused", async () => {
    const request = fc.record({
      gapMs: fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 90_000 })),
      takesMs: fc.integer({ min: 1, max: 5_000 }),
      tokens: fc.integer({ min: 0, max: 100 }),
    });
    const limit = fc.option(fc.integer({ min: 0, max: 8 }), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(
        fc.array(request, { maxLength: 60 }),
        limit,
        limit,
        limit,
        async (gaps, requestsPerMinute, hundreds, concurrentRequests) => {
          const tokensPerMinute = hundreds === undefined ? undefined : hundreds * 50;
          const limits = { requestsPerMinute, tokensPerMinute, concurrentRequests };
          let arrivedAtMs = START_MS;
          const requests = gaps.map(({ gapMs, takesMs, tokens }) => {
            arrivedAtMs += gapMs;
            return at(0, { arrivedAtMs, endedAtMs: arrivedAtMs + takesMs, tokens });
          });
          const declines = await replayLimits(requests, limits);
          const refused = declines.reduce((sum, each) => sum + each.refused, 0);
          expect(refused).toBe(await countRefused(requests, limits));
        },
      ),
      { numRuns: 300 },
    );
  });

  test("of 50,000 requests yields the event loop to others", async () => {
    const requests = Array.from({ length: 50_000 }, (_, index) => at(index * 12));
    const spendingLimit = { amount: 10n ** 9n, period: "month", timeZone: "Europe/Berlin" } as const;
    const limits = { requestsPerMinute: 600, tokensPerMinute: 6_000, concurrentRequests: 100, spendingLimit };
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    }, 0);
    expect(await refusedOf(requests, limits)).toEqual([]);
    clearInterval(counting);
    expect(turns).toBeGreaterThan(10);
    expect(requests.at(-1)?.arrivedAtMs).toBeLessThan(START_MS + 8 * DAY_MS);
  });
});

/** Sends the requests to the limiter itself, whose clock is theirs. */
async function countRefused(requests: readonly PastRequest[], limits: TriedLimits): Promise<number> {
  let nowMs = START_MS;
  const limiter = createMemoryLimiter({ now: () => nowMs });
  const running: { endedAtMs: number; tokens: number; settle(tokens: number): Promise<void> }[] = [];
  let refused = 0;
  for (const { arrivedAtMs, endedAtMs, tokens } of requests) {
    nowMs = arrivedAtMs;
    for (const each of running.filter((one) => one.endedAtMs <= arrivedAtMs)) {
      await each.settle(each.tokens);
      running.splice(running.indexOf(each), 1);
    }
    const caller = { accountId: "a", keyId: "k", keyLimits: limits, accountLimits: {}, tokens };
    const decision = await limiter.admit(caller);
    if (!decision.admitted) refused += 1;
    else running.push({ endedAtMs, tokens, settle: (used) => decision.settle(used) });
  }
  return refused;
}
