import { describe, expect, test } from "bun:test";
import { createFirstOutputTimes } from "../../src/upstream/first-output-times.ts";
import { createManualClock } from "../limiter/manual-clock.ts";

function start() {
  const clock = createManualClock();
  return { clock, times: createFirstOutputTimes(clock.now) };
}

describe("the times to first output of a key", () => {
  test("are measured by one request at a time until there is a figure", () => {
    const { clock, times } = start();
    expect(times.expectedMs("m", true)).toBe(0);
    times.tried("m", true);
    expect(times.expectedMs("m", true)).toBe(Number.POSITIVE_INFINITY);
    clock.step(10_000);
    expect(times.expectedMs("m", true)).toBe(0);
  });

  test("are measured again after a minute, and a slow one after ten times itself", () => {
    const { clock, times } = start();
    times.measured("m", true, 1_000);
    times.measured("slow", true, 30_000);
    clock.step(60_000);
    expect(times.expectedMs("m", true)).toBe(0);
    expect(times.expectedMs("slow", true)).toBe(30_000);
    clock.step(240_000);
    expect(times.expectedMs("slow", true)).toBe(0);
  });

  test("soon forget one slow start", () => {
    const { clock, times } = start();
    times.measured("m", true, 60_000);
    for (let left = 10; left > 0; left -= 1) {
      clock.step(60_000);
      times.measured("m", true, 500);
    }
    expect(times.expectedMs("m", true)).toBeLessThan(510);
  });

  test("are separate for each model, and for whole answers and streams", () => {
    const { times } = start();
    times.measured("m", true, 100);
    expect(times.expectedMs("m", false)).toBe(0);
    expect(times.expectedMs("n", true)).toBe(0);
    expect(times.expectedMs("m", true)).toBe(100);
  });
});
