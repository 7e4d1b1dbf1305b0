import { describe, expect, test } from "bun:test";
import type { LimitPeriod } from "../../src/ledger/ledger.ts";
import { periodEnd, periodStart } from "../../src/ledger/period.ts";

describe("a period in UTC", () => {
  test.each<[LimitPeriod, string, string, string]>([
    ["day", "2026-01-14T00:00:00.000Z", "2026-01-14", "2026-01-15"],
    ["day", "2026-01-14T23:59:59.999Z", "2026-01-14", "2026-01-15"],
    ["week", "2026-01-12T00:00:00.000Z", "2026-01-12", "2026-01-19"],
    ["week", "2026-01-11T23:59:59.999Z", "2026-01-05", "2026-01-12"],
    ["week", "2026-01-01T00:00:00.000Z", "2025-12-29", "2026-01-05"],
    ["month", "2026-01-31T23:59:59.999Z", "2026-01-01", "2026-02-01"],
    ["month", "2028-02-29T12:00:00.000Z", "2028-02-01", "2028-03-01"],
    ["month", "2026-12-31T23:59:59.999Z", "2026-12-01", "2027-01-01"],
    ["week", "2026-03-29T01:30:00.000Z", "2026-03-23", "2026-03-30"],
  ])("%s of %s runs from %s to %s", (period, at, start, end) => {
    expect(new Date(periodStart(period, Date.parse(at))).toISOString()).toStartWith(start);
    expect(new Date(periodEnd(period, Date.parse(at)) ?? 0).toISOString()).toStartWith(end);
  });

  test("total starts with time and never ends", () => {
    expect(periodStart("total", Date.now())).toBe(0);
    expect(periodEnd("total", Date.now())).toBeUndefined();
  });
});
