import { expect, test } from "bun:test";
import { findAnomalies } from "../../src/usage/anomalies.ts";

const DAY = 24 * 3_600_000;
const NOW = Date.UTC(2026, 10, 22, 15);
const TODAY = Date.UTC(2026, 10, 22);
const USD = 1_000_000_000n;

/** One USD a day for 60 days, and other costs by days before today. */
function costs(others: Record<number, bigint> = {}, days = 60): Map<number, bigint> {
  const each = new Map(Array.from({ length: days }, (_, day): [number, bigint] => [TODAY - day * DAY, USD]));
  for (const [day, cost] of Object.entries(others)) each.set(TODAY - Number(day) * DAY, cost);
  return each;
}

test("a day above three times the median of its weekday is an anomaly, at three times it is none", () => {
  expect(findAnomalies(costs({ 2: 3n * USD, 3: 3n * USD + 1n }), NOW)).toEqual([
    { dayMs: TODAY - 3 * DAY, cost: 3n * USD + 1n, usual: USD },
  ]);
});

test("one dear week does not hide the next", () => {
  const found = findAnomalies(costs({ 1: 9n * USD, 8: 9n * USD, 15: 9n * USD }), NOW);
  expect(found.map(({ dayMs }) => (TODAY - dayMs) / DAY)).toEqual([1, 8, 15]);
});

test("an account of less than three weeks, without requests, or with cents alone has none", () => {
  expect(findAnomalies(costs({ 0: 100n * USD }, 20), NOW)).toEqual([]);
  expect(findAnomalies(new Map(), NOW)).toEqual([]);
  const cheap = new Map<number, bigint>([...costs()].map(([day]) => [day, 1n]));
  expect(findAnomalies(cheap.set(TODAY, 9_999_999n), NOW)).toEqual([]);
});

test("a weekday that usually costs nothing is an anomaly when it does", () => {
  const found = findAnomalies(
    new Map([
      [TODAY - 60 * DAY, USD],
      [TODAY - DAY, USD],
    ]),
    NOW,
  );
  expect(found).toEqual([{ dayMs: TODAY - DAY, cost: USD, usual: 0n }]);
});

test("days of more than four weeks ago are not listed", () =>
  expect(findAnomalies(costs({ 28: 50n * USD }), NOW)).toEqual([]));
