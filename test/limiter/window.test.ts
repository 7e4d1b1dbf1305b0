import { describe, expect, test } from "bun:test";
import {
  advance,
  correct,
  createWindow,
  resetMs,
  take,
  type Window,
  waitMs,
} from "../../src/limiter/window.ts";

/** Returns a window after these admissions. */
function windowOf(admissions: readonly (readonly [atMs: number, tokens: number])[]): Window {
  const window = createWindow();
  for (const [atMs, tokens] of admissions) {
    advance(window, atMs);
    take(window, atMs, tokens);
  }
  return window;
}

describe("advance", () => {
  test.each([
    ["an admission is counted until just before 60 s have passed", [[500, 7]], 60_499, 1, 7],
    ["an admission expires after 60 s", [[500, 7]], 60_500, 0, 0],
    [
      "a slot is counted as a whole until its last admission expires",
      [
        [100, 1],
        [900, 2],
      ],
      60_899,
      2,
      3,
    ],
    [
      "a slot expires as a whole",
      [
        [100, 1],
        [900, 2],
      ],
      60_900,
      0,
      0,
    ],
    [
      "the first and the 61st second have separate slots",
      [
        [999, 1],
        [60_001, 2],
      ],
      60_998,
      2,
      3,
    ],
    [
      "only the expired slot is dropped",
      [
        [999, 1],
        [60_001, 2],
      ],
      60_999,
      1,
      2,
    ],
    ["a jump of exactly one lap of the ring leaves nothing", [[500, 7]], 61_500, 0, 0],
    [
      "a jump of a year leaves nothing",
      [
        [500, 7],
        [59_000, 9],
      ],
      31_536_000_000,
      0,
      0,
    ],
  ] as const)("%s", (_name, admissions, nowMs, requests, tokens) => {
    const window = windowOf(admissions);
    advance(window, nowMs);
    expect([window.requests, window.tokens]).toEqual([requests, tokens]);
  });

  test("a ring that was used for hours counts the admissions of the last minute", () => {
    const window = windowOf(Array.from({ length: 20_000 }, (_, index) => [index * 700, 3] as const));
    const lastMs = 19_999 * 700;
    const logged = Array.from({ length: 20_000 }, (_, index) => index * 700).filter(
      (atMs) => atMs > lastMs - 60_000,
    );
    expect(window.requests).toBeGreaterThanOrEqual(logged.length);
    expect(window.requests).toBeLessThanOrEqual(logged.length + 2);
    expect(window.tokens).toBe(window.requests * 3);
  });
});

describe("waitMs", () => {
  const window = windowOf([
    [0, 10],
    [5000, 20],
    [59_000, 30],
  ]);
  test.each([
    ["no excess needs no wait", "requests", 0, 0],
    ["an excess of one waits for the oldest request", "requests", 1, 600],
    ["an excess of two waits for the second request", "requests", 2, 5600],
    ["the oldest tokens cover the excess", "tokens", 10, 600],
    ["one token more waits for the next admission", "tokens", 11, 5600],
    ["an excess of all tokens waits for the last admission", "tokens", 60, 59_600],
    ["an excess above the sum waits a whole minute", "tokens", 61, 60_000],
  ] as const)("%s", (_name, of, excess, expected) => {
    expect(waitMs(window, 59_400, { of, excess })).toBe(expected);
  });
});

describe("resetMs", () => {
  test("is the time until the last counted admission expires", () => {
    expect(
      resetMs(
        windowOf([
          [0, 1],
          [5000, 0],
        ]),
        6000,
        "requests",
      ),
    ).toBe(59_000);
    expect(
      resetMs(
        windowOf([
          [0, 1],
          [5000, 0],
        ]),
        6000,
        "tokens",
      ),
    ).toBe(54_000);
  });

  test("is 0 when nothing is counted", () => expect(resetMs(createWindow(), 6000, "requests")).toBe(0));
});

describe("correct", () => {
  test("changes the slot of the call, so that the correction expires with it", () => {
    const window = windowOf([[500, 100]]);
    const second = take(window, 1500, 1000);
    correct(window, second, { requests: 0, tokens: -900 });
    expect(window.tokens).toBe(200);
    advance(window, 60_500);
    expect(window.tokens).toBe(100);
    advance(window, 61_500);
    expect([window.requests, window.tokens]).toEqual([0, 0]);
  });

  test("is dropped when the slot has expired", () => {
    const window = createWindow();
    const second = take(window, 500, 1000);
    advance(window, 60_500);
    take(window, 60_500, 5);
    correct(window, second, { requests: -1, tokens: -1000 });
    expect([window.requests, window.tokens]).toEqual([1, 5]);
  });

  test("is dropped when the slot was reused in the next lap of the ring", () => {
    const window = createWindow();
    const second = take(window, 500, 1000);
    advance(window, 61_500);
    expect(take(window, 61_500, 5) - second).toBe(61);
    correct(window, second, { requests: -1, tokens: -1000 });
    expect([window.requests, window.tokens]).toEqual([1, 5]);
  });

  test("leaves a slot usable when it cancels the only call of the second", () => {
    const window = createWindow();
    correct(window, take(window, 500, 10), { requests: -1, tokens: -10 });
    advance(window, 600);
    take(window, 600, 4);
    advance(window, 60_599);
    expect([window.requests, window.tokens]).toEqual([1, 4]);
  });
});
