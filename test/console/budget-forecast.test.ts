import { expect, test } from "bun:test";
import { forecastBudget } from "../../src/console/budget-forecast.ts";
import { parseUsd } from "../../src/domain/money.ts";

const limit = (more: object = {}) => ({
  amount_usd: "40.00",
  period: "month",
  used_usd: "20.00",
  held_usd: "0.00",
  resets_at: "2026-12-01T00:00:00Z",
  ...more,
});
const at = (time: string) => Date.parse(time);

test("a limit that is spent faster than its period goes is reached before its end", () => {
  const forecast = forecastBudget(limit(), at("2026-11-11T00:00:00Z"));
  expect(forecast).toEqual({ kind: "reached", atMs: at("2026-11-21T00:00:00Z") });
  // What is on hold is gone for now.
  const held = forecastBudget(limit({ held_usd: "10.00" }), at("2026-11-11T00:00:00Z"));
  expect(held).toEqual({ kind: "reached", atMs: at("2026-11-16T00:00:00Z") });
});

test("a limit that lasts is forecast by what will have been spent at its end", () => {
  const forecast = forecastBudget(limit({ used_usd: "10.00" }), at("2026-11-16T00:00:00Z"));
  expect(forecast).toEqual({ kind: "kept", spent: parseUsd("20.00") });
});

test("periods have their own length: a month of 28 days, one in another zone, a day, a window", () => {
  const cases = [
    ["month", "2027-03-01T00:00:00Z", "2027-02-15T00:00:00Z", "2027-03-01T00:00:00Z"],
    ["month", "2026-11-30T18:30:00Z", "2026-11-15T18:30:00Z", "2026-11-30T18:30:00Z"],
    ["day", "2026-11-11T00:00:00Z", "2026-11-10T12:00:00Z", "2026-11-11T00:00:00Z"],
    ["week", "2026-11-09T00:00:00Z", "2026-11-05T12:00:00Z", "2026-11-09T00:00:00Z"],
    ["5h", "2026-11-11T05:00:00Z", "2026-11-11T02:30:00Z", "2026-11-11T05:00:00Z"],
  ] as const;
  for (const [period, resets, now, end] of cases) {
    // Half of the time for half of the amount: exactly at the end, which is kept.
    const forecast = forecastBudget(limit({ period, resets_at: resets }), at(now));
    expect([period, forecast]).toEqual([period, { kind: "kept", spent: parseUsd("40.00") }]);
    const sooner = forecastBudget(limit({ period, resets_at: resets, used_usd: "20.01" }), at(now));
    expect(sooner?.kind === "reached" && sooner.atMs < at(end)).toBe(true);
  }
});

test("what is unknown has no forecast", () => {
  const now = at("2026-11-16T00:00:00Z");
  expect(forecastBudget(limit({ used_usd: "0.00" }), now)).toBeUndefined();
  expect(forecastBudget(limit({ used_usd: "40.00" }), now)).toBeUndefined();
  expect(forecastBudget(limit(), at("2026-11-02T00:00:00Z"))).toBeUndefined();
  expect(forecastBudget(limit(), at("2026-12-02T00:00:00Z"))).toBeUndefined();
  const total = limit({ period: "total", resets_at: null });
  expect(forecastBudget(total, now)).toBeUndefined();
  const recent = { spent: parseUsd("10.00"), ms: 10 * 86_400_000 };
  expect(forecastBudget(total, now, recent)).toEqual({ kind: "reached", atMs: at("2026-12-06T00:00:00Z") });
});
