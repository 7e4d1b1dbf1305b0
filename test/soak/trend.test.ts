import { expect, test } from "bun:test";
import { trendOf } from "./trend.ts";

test("trendOf() finds the line that points lie on", () => {
  const points = [0, 1, 2, 3].map((x) => ({ x, y: 100 + 2.5 * x }));
  const { mean, slope, slopeError } = trendOf(points);
  expect(mean).toBeCloseTo(103.75);
  expect(slope).toBeCloseTo(2.5);
  expect(slopeError).toBeCloseTo(0);
});

test("trendOf() says how little a slope means among scattered points", () => {
  const { slope, slopeError } = trendOf([10, 30, 12, 28, 11, 29].map((y, x) => ({ x, y })));
  expect(Math.abs(slope)).toBeLessThan(2 * slopeError);
});

test("trendOf() fits no line through two points", () => {
  expect(() =>
    trendOf([
      { x: 0, y: 0 },
      { x: 1, y: 1 },
    ]),
  ).toThrow();
});
