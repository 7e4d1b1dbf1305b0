import { expect, test } from "bun:test";
import { warmUp } from "./warm-up.ts";

/** Windows with these CPU times, of which the last one repeats. */
function windowsOf(...cpuUs: readonly number[]) {
  let count = 0;
  return {
    run: async () => ({ cpuUs: cpuUs[Math.min(count++, cpuUs.length - 1)] ?? Number.NaN }),
    count: () => count,
  };
}

test("a warm-up ends with the second of two windows that differ by at most 5 %", async () => {
  const windows = windowsOf(480, 300, 220, 165, 160, 100);
  expect(await warmUp(windows.run)).toEqual({ cpuUs: 160 });
  expect(windows.count()).toBe(5);
});

test("a warm-up of a server that is slower in the second window goes on", async () => {
  const windows = windowsOf(200, 300, 301);
  expect(await warmUp(windows.run)).toEqual({ cpuUs: 301 });
});

test("a warm-up whose windows never agree ends after 15 of them", async () => {
  let cpuUs = 1;
  let count = 0;
  await warmUp(async () => {
    count += 1;
    cpuUs *= 2;
    return { cpuUs };
  });
  expect(count).toBe(15);
});

test("a warm-up ends at a window without an answer", async () => {
  const windows = windowsOf(200, Number.NaN, 100);
  await warmUp(windows.run);
  expect(windows.count()).toBe(2);
});
