import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { formatUsdNumber } from "../../src/console/format.ts";
import { bandScale, choosePlaces, linearScale, stackLayers } from "../../src/console/parts/scales.ts";
import { stackRows } from "../../src/console/series.ts";

const HOUR = 3_600_000;

describe("the scales of a chart", () => {
  const ticksOf = (most: number, isWhole = false) =>
    linearScale({ most, isWhole }, [100, 0]).ticks.map((tick) => Number(tick.toPrecision(12)));

  test.each([
    [0, [0, 0.25, 0.5, 0.75, 1]],
    [58, [0, 20, 40, 60]],
    [1, [0, 0.25, 0.5, 0.75, 1]],
    [97, [0, 25, 50, 75, 100]],
  ])("values up to %p have the ticks %p", (most, ticks) => {
    expect(ticksOf(most)).toEqual(ticks);
  });

  test.each([
    [0, [0, 1]],
    [1, [0, 1]],
    [9, [0, 5, 10]],
    [97, [0, 25, 50, 75, 100]],
  ])("counts up to %p have the whole ticks %p", (most, ticks) => {
    expect(ticksOf(most, true)).toEqual(ticks);
  });

  test("every tick of an axis of amounts is printed without rounding", () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-9, max: 1e6, noNaN: true }), (most) => {
        const read = (tick: number) => Number(formatUsdNumber(tick).replaceAll(/[$,]/g, ""));
        for (const tick of ticksOf(most)) expect(read(tick)).toBeCloseTo(tick, 12);
      }),
    );
  });

  test("every value lies on the scale, and few ticks are enough for any", () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-12, max: 1e15, noNaN: true }), (most) => {
        const scale = linearScale({ most, isWhole: false }, [200, 0]);
        expect(scale.at(most)).toBeGreaterThanOrEqual(-1e-6);
        expect(scale.at(0)).toBe(200);
        expect(scale.ticks.length).toBeLessThanOrEqual(6);
      }),
    );
  });

  test("a pixel of a band leads to its place, and pixels outside to the nearest", () => {
    const scale = bandScale(10, [50, 150]);
    for (let place = 0; place < 10; place += 1) expect(scale.placeOf(scale.at(place) + 1)).toBe(place);
    expect(scale.placeOf(-10)).toBe(0);
    expect(scale.placeOf(1_000)).toBe(9);
    expect(bandScale(0, [0, 100]).placeOf(50)).toBe(0);
  });

  test("layers stand on each other without gaps", () => {
    const [first, second] = stackLayers([{ values: [1, 0, 2] }, { values: [3, 4, 0] }]);
    expect(first).toEqual([
      { place: 0, from: 0, to: 1 },
      { place: 2, from: 0, to: 2 },
    ]);
    expect(second).toEqual([
      { place: 0, from: 1, to: 4 },
      { place: 1, from: 0, to: 4 },
    ]);
  });

  test("labels are spread evenly over the room there is", () => {
    const days = (count: number) => Array.from({ length: count }, () => ({}));
    expect(choosePlaces(days(30), 10)).toEqual([0, 3, 6, 9, 12, 15, 18, 21, 24, 27]);
    expect(choosePlaces(days(3), 10)).toEqual([0, 1, 2]);
    expect(choosePlaces(days(5), 0)).toEqual([0]);
  });

  test("labels among hours stand at hours that divide the day, and at midnights of many days", () => {
    const from = (first: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ hour: (first + index) % 24 }));
    expect(choosePlaces(from(17, 24), 9)).toEqual([1, 4, 7, 10, 13, 16, 19, 22]);
    expect(choosePlaces(from(17, 24), 4)).toEqual([1, 7, 13, 19]);
    expect(choosePlaces(from(17, 168), 8)).toEqual([7, 31, 55, 79, 103, 127, 151]);
    expect(choosePlaces(from(17, 168), 4)).toEqual([7, 55, 103, 151]);
  });
});

describe("rows of a usage view", () => {
  const row = (hour: number, group: string | null, cost: number) => ({
    time: new Date(Date.UTC(2026, 10, 22) + hour * HOUR).toISOString(),
    group,
    group_name: null,
    cost,
  });
  const options = {
    from: "2026-11-22T00:00:00.000Z",
    to: "2026-11-22T04:00:00.000Z",
    resolution: "hour" as const,
    name: "All",
    value: ({ cost }: { cost: number }) => cost,
  };

  test("hours without rows are there with 0, and the largest group is first", () => {
    const { times, series } = stackRows([row(1, "a", 2), row(3, "b", 5)], options);
    expect(times.length).toBe(4);
    expect(series).toEqual([
      { id: "b", name: "b", values: [0, 0, 0, 5] },
      { id: "a", name: "a", values: [0, 2, 0, 0] },
    ]);
  });

  test("buckets that begin at half past keep their place", () => {
    const { times, series } = stackRows([row(1.5, "a", 2)], options);
    expect(times[1]).toBe("2026-11-22T01:30:00.000Z");
    expect(series[0]?.values[1]).toBe(2);
  });

  test("more than 6 groups share the last series", () => {
    const rows = Array.from({ length: 12 }, (_, index) => row(1, `g${index}`, index + 1));
    const { series } = stackRows(rows, options);
    expect(series.length).toBe(6);
    expect(series[5]).toMatchObject({ name: "7 others", values: [0, 28, 0, 0] });
  });

  test("the group of all others comes last, and is not counted as one group among others", () => {
    const few = stackRows([row(1, "(other)", 90), row(1, "a", 2)], options);
    expect(few.series.map(({ id }) => id)).toEqual(["a", "(other)"]);
    const rows = Array.from({ length: 8 }, (_, index) => row(1, `g${index}`, index + 1));
    const { series } = stackRows([row(1, "(other)", 90), ...rows], options);
    expect(series[5]).toMatchObject({ id: "(other)", name: "All others", values: [0, 96, 0, 0] });
  });

  test("no rows are no series", () => expect(stackRows([], options)).toMatchObject({ series: [] }));
});
