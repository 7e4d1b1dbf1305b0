import { describe, expect, test } from "bun:test";
import type { Admission, AdmissionRequest, Limits, Refusal } from "../../src/limiter/limiter.ts";
import { createMemoryLimiter } from "../../src/limiter/memory.ts";
import { createManualClock } from "./clock.ts";

function setUp(keyLimits: Limits, accountLimits: Limits = {}) {
  const clock = createManualClock();
  const limiter = createMemoryLimiter({ now: clock.now });
  function requestOf(change: Partial<AdmissionRequest> = {}): AdmissionRequest {
    return { accountId: "acme", keyId: "k1", keyLimits, accountLimits, tokens: 0, ...change };
  }
  return {
    clock,
    limiter,
    usage: (change?: Partial<AdmissionRequest>) => limiter.usage(requestOf(change)),
    admit: (change?: Partial<AdmissionRequest>) => limiter.admit(requestOf(change)),
    pass: async (change?: Partial<AdmissionRequest>) => admitted(await limiter.admit(requestOf(change))),
    fail: async (change?: Partial<AdmissionRequest>) => refused(await limiter.admit(requestOf(change))),
  };
}

function admitted(decision: Admission | Refusal): Admission {
  if (!decision.admitted) throw new Error(`refused by ${decision.bound}`);
  return decision;
}

function refused(decision: Admission | Refusal): Refusal {
  if (decision.admitted) throw new Error("admitted");
  return decision;
}

describe("requests per minute", () => {
  test("the last of N passes and the next is told to wait until the first leaves", async () => {
    const { pass, fail, clock } = setUp({ requestsPerMinute: 3 });
    await pass();
    clock.step(1000);
    await pass();
    await pass();
    clock.step(10_001);
    expect(await fail()).toMatchObject({ bound: "rate", retryAfterS: 49 });
    clock.step(48_998);
    expect(await fail()).toMatchObject({ retryAfterS: 1 });
    clock.step(1);
    await pass();
    await fail();
  });

  test("200 callers at once on one key get exactly N through", async () => {
    const { admit } = setUp({ requestsPerMinute: 50 }, { requestsPerMinute: 120 });
    const decisions = await Promise.all(Array.from({ length: 200 }, () => admit()));
    expect(decisions.filter((decision) => decision.admitted)).toHaveLength(50);
  });

  test("0 admits nothing and undefined is no bound", async () => {
    expect(await setUp({ requestsPerMinute: 0 }).fail()).toMatchObject({ bound: "rate", retryAfterS: 60 });
    expect(await setUp({ tokensPerMinute: 0 }).fail()).toMatchObject({ bound: "rate", retryAfterS: 60 });
    expect(await setUp({ concurrentRequests: 0 }).fail()).toMatchObject({
      bound: "concurrency",
      retryAfterS: 1,
    });
    const { pass } = setUp({});
    for (let index = 0; index < 1000; index += 1) {
      expect((await pass({ tokens: 1e9 })).state).toEqual({ requests: undefined, tokens: undefined });
    }
  });
});

describe("tokens per minute", () => {
  test("the estimate counts until the settlement and the actual afterwards", async () => {
    const { pass, fail, usage } = setUp({ tokensPerMinute: 1000 });
    const call = await pass({ tokens: 900 });
    expect(await fail({ tokens: 101 })).toMatchObject({ bound: "rate", retryAfterS: 60 });
    call.settle(300);
    expect((await usage()).tokens?.remaining).toBe(700);
    await pass({ tokens: 700 });
    await fail({ tokens: 1 });
  });

  test("a settlement above the estimate counts too and remaining stops at 0", async () => {
    const { pass, fail, usage } = setUp({ tokensPerMinute: 1000 });
    (await pass({ tokens: 600 })).settle(1500);
    expect((await usage()).tokens).toMatchObject({ limit: 1000, remaining: 0 });
    await fail({ tokens: 0 });
  });

  test("a settlement that comes after its slot has left changes nothing", async () => {
    const { pass, clock, usage } = setUp({ tokensPerMinute: 1000 });
    const late = await pass({ tokens: 900 });
    clock.step(60_000);
    await pass({ tokens: 400 });
    late.settle(0);
    expect((await usage()).tokens?.remaining).toBe(600);
  });

  test("the longest of the short windows is the wait", async () => {
    const { pass, fail, clock } = setUp({ requestsPerMinute: 2, tokensPerMinute: 1000 });
    await pass({ tokens: 1 });
    clock.step(20_000);
    await pass({ tokens: 999 });
    expect(await fail({ tokens: 500 })).toMatchObject({ retryAfterS: 60 });
    expect(await fail({ tokens: 0 })).toMatchObject({ retryAfterS: 40 });
  });

  test.each([Number.NaN, -1, Number.POSITIVE_INFINITY])(
    "%p tokens are a mistake of the caller",
    async (tokens) => {
      await expect(setUp({}).admit({ tokens })).rejects.toThrow(RangeError);
    },
  );

  test.each([Number.NaN, -1, Number.POSITIVE_INFINITY])(
    "a settlement of %p keeps the estimate",
    async (used) => {
      const { pass, usage } = setUp({ tokensPerMinute: 1000 });
      (await pass({ tokens: 300 })).settle(used);
      expect((await usage()).tokens?.remaining).toBe(700);
    },
  );
});

describe("concurrency", () => {
  test("a slot is taken until the call ends and is free at once after", async () => {
    const { pass, fail, usage } = setUp({ concurrentRequests: 2 });
    const first = await pass();
    const second = await pass();
    expect(await fail()).toMatchObject({ bound: "concurrency", retryAfterS: 1 });
    first.settle(0);
    expect((await usage()).running).toBe(1);
    const third = await pass();
    second.cancel();
    third.cancel();
    expect((await usage()).running).toBe(0);
  });

  test("a call outlives its minute without losing its slot", async () => {
    const { pass, fail, clock } = setUp({ concurrentRequests: 1 });
    const long = await pass();
    clock.step(3_600_000);
    expect(await fail()).toMatchObject({ bound: "concurrency" });
    long.settle(5);
    await pass();
  });

  test("only the first end of a call counts", async () => {
    const { pass, usage } = setUp({ requestsPerMinute: 10, tokensPerMinute: 100, concurrentRequests: 10 });
    const call = await pass({ tokens: 40 });
    await pass({ tokens: 1 });
    call.settle(10);
    call.settle(0);
    call.cancel();
    const { running, requests, tokens } = await usage();
    expect([running, requests?.remaining, tokens?.remaining]).toEqual([1, 8, 89]);
  });
});

describe("several bounds", () => {
  test("rate is said before concurrency when both refuse", async () => {
    const { pass, fail } = setUp({ requestsPerMinute: 1, concurrentRequests: 1 });
    await pass();
    expect(await fail()).toMatchObject({ bound: "rate", retryAfterS: 60 });
  });

  test.each([
    ["the key's concurrency", { concurrentRequests: 1 }, {}],
    ["the key's tokens", { tokensPerMinute: 10 }, {}],
    ["the account's requests", {}, { requestsPerMinute: 1 }],
    ["the account's tokens", {}, { tokensPerMinute: 10 }],
    ["the account's concurrency", {}, { concurrentRequests: 1 }],
  ] as const)("a refusal by %s takes nothing from the others", async (_name, keyChange, accountChange) => {
    const wide = { requestsPerMinute: 1000, tokensPerMinute: 100_000, concurrentRequests: 100 };
    const { pass, fail, usage } = setUp({ ...wide, ...keyChange }, { ...wide, ...accountChange });
    await pass({ tokens: 10 });
    const before = [await usage(), await usage({ keyId: "k2" })];
    for (let index = 0; index < 20; index += 1) await fail({ tokens: 10 });
    expect([await usage(), await usage({ keyId: "k2" })]).toEqual(before);
  });

  test("an account's bound holds over all its keys and no other account's", async () => {
    const { pass, fail } = setUp({}, { requestsPerMinute: 2 });
    await pass({ keyId: "k1" });
    await pass({ keyId: "k2" });
    await fail({ keyId: "k3" });
    await pass({ keyId: "k4", accountId: "other" });
  });

  test("a cancelled call is as if it had never been asked for", async () => {
    const limits = { requestsPerMinute: 5, tokensPerMinute: 100, concurrentRequests: 5 };
    const { pass, usage } = setUp(limits, limits);
    const before = await usage();
    (await pass({ tokens: 60 })).cancel();
    expect(await usage()).toEqual(before);
  });
});

describe("what a client is shown", () => {
  test("the tighter of key and account, after this admission", async () => {
    const { pass, clock } = setUp(
      { requestsPerMinute: 10, tokensPerMinute: 1000 },
      { requestsPerMinute: 11, tokensPerMinute: 600 },
    );
    await pass({ keyId: "k2", tokens: 100 });
    clock.step(2000);
    const { state } = await pass({ tokens: 50 });
    expect(state).toEqual({
      requests: { limit: 10, remaining: 9, resetMs: 60_000 },
      tokens: { limit: 600, remaining: 450, resetMs: 60_000 },
    });
    clock.step(500);
    expect((await pass({ keyId: "k2", tokens: 0 })).state.requests).toEqual({
      limit: 10,
      remaining: 8,
      resetMs: 60_000,
    });
  });

  test("a bound of only one of them is that one's", async () => {
    const { pass } = setUp({ requestsPerMinute: 10 }, { tokensPerMinute: 600 });
    expect((await pass({ tokens: 5 })).state).toMatchObject({
      requests: { limit: 10, remaining: 9 },
      tokens: { limit: 600, remaining: 595 },
    });
  });

  test("the reset counts down to a whole window", async () => {
    const { pass, usage, clock } = setUp({ requestsPerMinute: 10 });
    await pass();
    clock.step(59_999);
    expect((await usage()).requests).toEqual({ limit: 10, remaining: 9, resetMs: 1 });
    clock.step(1);
    expect((await usage()).requests).toEqual({ limit: 10, remaining: 10, resetMs: 0 });
  });
});

describe("a clock that is set", () => {
  test("back by an hour neither lets more in nor locks anybody out for over a minute", async () => {
    const { pass, fail, clock } = setUp({ requestsPerMinute: 1 });
    await pass();
    clock.step(-3_600_000);
    expect(await fail()).toMatchObject({ retryAfterS: 60 });
    clock.step(59_999);
    await fail();
    clock.step(1);
    await pass();
  });

  test("forward by a year and back again does not lock anybody out", async () => {
    const { pass, fail, clock } = setUp({ requestsPerMinute: 1 });
    await pass();
    clock.step(31_536_000_000);
    await pass();
    clock.step(-31_536_000_000);
    expect(await fail()).toMatchObject({ retryAfterS: 60 });
    clock.step(60_000);
    await pass();
  });
});

// A sum of fractions made a minute of 60,000.00000000001 ms, and of that 61 seconds in a header.
test("a minute never has sixty-one seconds, whatever fractions the clock has", async () => {
  let now = 0;
  const limiter = createMemoryLimiter({ now: () => now });
  for (let i = 0; i < 1000; i += 1) {
    now = 50_000 + i * 17.123_456_789;
    const names = { accountId: `account-${i}`, keyId: `key-${i}` };
    const { state } = await limiter.admit({
      ...names,
      keyLimits: { requestsPerMinute: 1 },
      accountLimits: {},
      tokens: 0,
    });
    expect(state.requests?.resetMs).toBe(60_000);
  }
});
