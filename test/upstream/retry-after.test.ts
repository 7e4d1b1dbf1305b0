import { describe, expect, test } from "bun:test";
import { readRetryAfter } from "../../src/upstream/retry-after.ts";

const NOW_MS = Date.UTC(2026, 10, 22, 12);

const http = (ms: number) => new Date(ms).toUTCString();

const read = (headers: Record<string, string>) => readRetryAfter(new Headers(headers), NOW_MS);

describe("the pause that an upstream asks for", () => {
  test("is read from seconds, milliseconds, and a date", () => {
    expect(read({ "retry-after": "7" })).toBe(7_000);
    expect(read({ "retry-after": "7", "retry-after-ms": "20" })).toBe(20);
    expect(read({ "retry-after": http(NOW_MS + 5_000) })).toBe(5_000);
  });

  test.each([-86_400_000, 86_400_000])(
    "is five seconds when our clock is %p ms off the upstream's",
    (shiftMs) => {
      const date = http(NOW_MS + shiftMs);
      const until = http(NOW_MS + shiftMs + 5_000);
      expect(read({ date, "retry-after": until })).toBe(5_000);
    },
  );

  test("is compared with our clock when the answer's own date cannot be read", () => {
    expect(read({ date: "noon", "retry-after": http(NOW_MS + 5_000) })).toBe(5_000);
  });

  test.each(["soon", "-1", "0", "1e9", ""])("is none for %p", (pause) => {
    expect(read({ "retry-after": pause })).toBeUndefined();
  });
});
