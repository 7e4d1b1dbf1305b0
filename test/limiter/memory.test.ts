import { expect, test } from "bun:test";
import { createMemoryLimiter } from "../../src/limiter/memory.ts";
import { describeLimiter } from "./contract/describe-limiter.ts";
import { openMemoryLimiter } from "./contract/memory.ts";

describeLimiter("a limiter in process", openMemoryLimiter, { isShared: false });

// Regression: a sum of fractions became 60,000.00000000001 ms, and 61 seconds in a header.
test("the reset time never exceeds 60,000 ms with a clock of fractional milliseconds", async () => {
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

test("200 admissions requested in one event-loop turn are decided one after the other", async () => {
  const limiter = createMemoryLimiter();
  const request = {
    accountId: "a",
    keyId: "k",
    keyLimits: { requestsPerMinute: 5 },
    accountLimits: {},
    tokens: 0,
  };
  const decisions = await Promise.all(Array.from({ length: 200 }, () => limiter.admit(request)));
  expect(decisions.map((decision) => decision.admitted)).toEqual([
    ...Array.from({ length: 5 }, () => true),
    ...Array.from({ length: 195 }, () => false),
  ]);
});
