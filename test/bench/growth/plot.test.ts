import { describe, expect, test } from "bun:test";
import { drawPlot, type Plot, printNumber, ticksOf } from "./plot.ts";

const PLOT: Plot = {
  title: "Cost <by> keys & accounts",
  xLabel: "keys",
  steps: ["1", "10", "100"],
  panels: [
    {
      yLabel: "requests/s",
      isLogarithmic: false,
      series: [
        { name: "gateway", values: [7_000, 6_900, 6_800] },
        { name: "proxy", values: [20_000, 20_100, 19_900] },
      ],
    },
    { yLabel: "p99, ms", isLogarithmic: true, series: [{ name: "gateway", values: [4, 40, 400] }] },
  ],
  caption: "Example CPU, 2026-11-22",
};

describe("drawPlot", () => {
  const svg = drawPlot(PLOT);

  test("labels both axes of each panel with their units, and every step", () => {
    const texts = [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, content]) => content);
    for (const label of ["requests/s", "p99, ms", "keys", "100", "gateway", "proxy", PLOT.caption]) {
      expect(texts).toContain(label);
    }
  });

  test("draws one dot for each value, inside the picture", () => {
    const dots = [...svg.matchAll(/<circle [^>]*cx="([\d.]+)" cy="([\d.]+)"/g)];
    expect(dots).toHaveLength(9);
    for (const [, x, y] of dots) {
      expect(Number(x)).toBeWithin(0, 760);
      expect(Number(y)).toBeWithin(60, 230);
    }
  });

  test("prints larger values higher", () => {
    const heights = [...svg.matchAll(/class="dot0" cx="[\d.]+" cy="([\d.]+)"/g)].map(([, y]) => Number(y));
    const logarithmic = heights.slice(3);
    expect(logarithmic).toEqual(logarithmic.toSorted((a, b) => b - a));
    expect(heights.slice(0, 3)).toEqual(heights.slice(0, 3).toSorted((a, b) => a - b));
  });

  test("escapes texts, and is balanced XML", () => {
    expect(svg).toContain("Cost &lt;by> keys &amp; accounts");
    const opened = [...svg.matchAll(/<(text|svg|style|title)\b/g)].length;
    const closed = [...svg.matchAll(/<\/(text|svg|style|title)>/g)].length;
    expect(opened).toBe(closed);
    expect(svg).not.toContain("NaN");
  });

  test("has colours for dark pages", () => expect(svg).toContain("@media (prefers-color-scheme: dark)"));
});

describe("ticksOf", () => {
  const ticks = (values: readonly number[], isLogarithmic = false) =>
    ticksOf({ series: [{ name: "", values }], isLogarithmic });

  test.each([
    [
      [7, 21],
      [0, 5, 10, 15, 20, 25],
    ],
    [[0.31], [0, 0.1, 0.2, 0.3, 0.4]],
    [[5_000], [0, 1_000, 2_000, 3_000, 4_000, 5_000]],
  ])("cover %p from 0 in equal steps", (values, expected) => expect(ticks(values)).toEqual(expected));

  test("of a logarithmic axis are the decades around the values", () => {
    expect(ticks([0.5, 4_000], true)).toEqual([0.1, 1, 10, 100, 1_000, 10_000]);
    expect(ticks([10, 10], true)).toEqual([10, 100]);
  });
});

test.each([
  [0.0123, "0.0123"],
  [4.567, "4.57"],
  [999, "999"],
  [1_000, "1K"],
  [12_345, "12.3K"],
])("%p is printed as %p", (value, expected) => expect(printNumber(value)).toBe(expected));
