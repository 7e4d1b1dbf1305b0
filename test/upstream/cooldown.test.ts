import { describe, expect, test } from "bun:test";
import { createHealth, readRetryAfter } from "../../src/upstream/cooldown.ts";
import { createManualClock } from "../limiter/manual-clock.ts";

function create() {
  const clock = createManualClock();
  return { clock, health: createHealth({ failuresMax: 5, clock: clock.now }) };
}

describe("the cooldown of a model", () => {
  test("ends exactly after its duration", () => {
    const { clock, health } = create();
    expect(health.isCoolingDown("m")).toBe(false);
    health.startCooldown("m", 20_000);
    clock.step(19_999);
    expect(health.isCoolingDown("m")).toBe(true);
    clock.step(1);
    expect(health.isCoolingDown("m")).toBe(false);
  });

  test("does not apply to other models of the upstream", () => {
    const { health } = create();
    health.startCooldown("m", 20_000);
    expect(health.isCoolingDown("other")).toBe(false);
  });

  test.each([
    { first: 20_000, second: 5000 },
    { first: 5000, second: 20_000 },
  ])("ends at the later of two ends: $first ms, then $second ms", ({ first, second }) => {
    const { clock, health } = create();
    health.startCooldown("m", first);
    health.startCooldown("m", second);
    clock.step(19_999);
    expect(health.isCoolingDown("m")).toBe(true);
    clock.step(1);
    expect(health.isCoolingDown("m")).toBe(false);
  });

  test.each([301_000, 1e300, Number.POSITIVE_INFINITY])(
    "ends after five minutes at most when %p ms are requested",
    (ms) => {
      const { clock, health } = create();
      health.startCooldown("m", ms);
      clock.step(299_999);
      expect(health.isCoolingDown("m")).toBe(true);
      clock.step(1);
      expect(health.isCoolingDown("m")).toBe(false);
    },
  );

  test.each([0, -1, Number.NaN, Number.NEGATIVE_INFINITY])("is not started by %p ms", (ms) => {
    const { health } = create();
    health.startCooldown("m", ms);
    expect(health.isCoolingDown("m")).toBe(false);
  });

  test("continues when another is requested without a valid duration", () => {
    const { health } = create();
    health.startCooldown("m", 1000);
    health.startCooldown("m", Number.NaN);
    expect(health.isCoolingDown("m")).toBe(true);
  });

  test("is dropped when a thousand other cooldowns started later", () => {
    const { health } = create();
    for (const model of ["started-once", "restarted"]) health.startCooldown(model, 300_000);
    for (let i = 0; i < 998; i++) health.startCooldown(`m${i}`, 300_000);
    health.startCooldown("restarted", 1);
    expect(health.isCoolingDown("started-once")).toBe(true);
    health.startCooldown("one more", 300_000);
    expect(health.isCoolingDown("started-once")).toBe(false);
    expect(health.isCoolingDown("restarted")).toBe(true);
  });
});

test("a model that is cooling down still gets permits, and an open circuit starts no cooldown", () => {
  const { health } = create();
  health.startCooldown("m", 1000);
  for (let left = 5; left > 0; left--) health.acquire()?.failed();
  expect(health.acquire()).toBeUndefined();
  expect(health.isCoolingDown("other")).toBe(false);
});

const NOW_MS = Date.UTC(2026, 10, 22, 12);

const http = (ms: number) => new Date(ms).toUTCString();

const read = (headers: Record<string, string>) => readRetryAfter(new Headers(headers), NOW_MS);

describe("the cooldown requested by a response", () => {
  test("is read from seconds, milliseconds, and a date", () => {
    expect(read({ "retry-after": "7" })).toBe(7_000);
    expect(read({ "retry-after": "7", "retry-after-ms": "20" })).toBe(20);
    expect(read({ "retry-after": http(NOW_MS + 5_000) })).toBe(5_000);
  });

  test.each([-86_400_000, 86_400_000])(
    "is five seconds by the response's own date when the gateway's clock is off by %p ms",
    (shiftMs) => {
      const date = http(NOW_MS + shiftMs);
      const until = http(NOW_MS + shiftMs + 5_000);
      expect(read({ date, "retry-after": until })).toBe(5_000);
    },
  );

  test("is compared with the gateway's clock when the response's date is unreadable", () =>
    expect(read({ date: "noon", "retry-after": http(NOW_MS + 5_000) })).toBe(5_000));

  test.each(["soon", "-1", "0", "1e9", ""])("is undefined for a retry-after of %p", (pause) => {
    expect(read({ "retry-after": pause })).toBeUndefined();
  });
});
