import { expect, test } from "bun:test";
import { trendOf } from "./trend.ts";

test("trendOf() fits the line through collinear points", () => {
  const points = [0, 1, 2, 3].map((x) => ({ x, y: 100 + 2.5 * x }));
  const { mean, slope, slopeError } = trendOf(points);
  expect(mean).toBeCloseTo(103.75);
  expect(slope).toBeCloseTo(2.5);
  expect(slopeError).toBeCloseTo(0);
});

test("trendOf() reports a large standard error for scattered points", () => {
  const { slope, slopeError } = trendOf([10, 30, 12, 28, 11, 29].map((y, x) => ({ x, y })));
  expect(Math.abs(slope)).toBeLessThan(2 * slopeError);
});

test("trendOf() throws for two points", () => {
  expect(() =>
    trendOf([
      { x: 0, y: 0 },
      { x: 1, y: 1 },
    ]),
  ).toThrow();
});
