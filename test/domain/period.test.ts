import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { CalendarPeriod } from "../../src/domain/period.ts";
import { isTimeZone, periodEnd, periodStart } from "../../src/domain/period.ts";

describe("a period in UTC", () => {
  test.each<[CalendarPeriod, string, string, string]>([
    ["day", "2026-01-14T00:00:00.000Z", "2026-01-14", "2026-01-15"],
    ["day", "2026-01-14T23:59:59.999Z", "2026-01-14", "2026-01-15"],
    ["week", "2026-01-12T00:00:00.000Z", "2026-01-12", "2026-01-19"],
    ["week", "2026-01-11T23:59:59.999Z", "2026-01-05", "2026-01-12"],
    ["week", "2026-01-01T00:00:00.000Z", "2025-12-29", "2026-01-05"],
    ["month", "2026-01-31T23:59:59.999Z", "2026-01-01", "2026-02-01"],
    ["month", "2028-02-29T12:00:00.000Z", "2028-02-01", "2028-03-01"],
    ["month", "2026-12-31T23:59:59.999Z", "2026-12-01", "2027-01-01"],
    ["week", "2026-03-29T01:30:00.000Z", "2026-03-23", "2026-03-30"],
  ])("the %s of %s runs from %s to %s", (period, at, start, end) => {
    expect(new Date(periodStart(period, Date.parse(at))).toISOString()).toStartWith(start);
    expect(new Date(periodEnd(period, Date.parse(at)) ?? 0).toISOString()).toStartWith(end);
  });

  test("total starts at 0 and has no end", () => {
    expect(periodStart("total", Date.now())).toBe(0);
    expect(periodEnd("total", Date.now())).toBeUndefined();
  });
});

describe("a period in a time zone", () => {
  test.each<[string, CalendarPeriod, string, string, string, string]>([
    [
      "starts at the zone's midnight",
      "day",
      "Asia/Tokyo",
      "2026-01-14T15:00Z",
      "2026-01-14T15:00Z",
      "2026-01-15T15:00Z",
    ],
    [
      "ends at the zone's midnight",
      "day",
      "Asia/Tokyo",
      "2026-01-14T14:59:59.999Z",
      "2026-01-13T15:00Z",
      "2026-01-14T15:00Z",
    ],
    [
      "starts at midnight of a zone with a half-hour offset",
      "day",
      "Asia/Kolkata",
      "2026-01-14T12:00Z",
      "2026-01-13T18:30Z",
      "2026-01-14T18:30Z",
    ],
    [
      "starts at midnight of a zone with a quarter-hour offset",
      "month",
      "Asia/Kathmandu",
      "2026-01-31T18:15Z",
      "2026-01-31T18:15Z",
      "2026-02-28T18:15Z",
    ],
    [
      "has 23 hours on the day clocks go forward",
      "day",
      "Europe/Berlin",
      "2026-03-29T12:00Z",
      "2026-03-28T23:00Z",
      "2026-03-29T22:00Z",
    ],
    [
      "has 25 hours on the day clocks go back",
      "day",
      "Europe/Berlin",
      "2026-10-25T12:00Z",
      "2026-10-24T22:00Z",
      "2026-10-25T23:00Z",
    ],
    [
      "is a week across a clock change",
      "week",
      "Europe/Berlin",
      "2026-03-29T12:00Z",
      "2026-03-22T23:00Z",
      "2026-03-29T22:00Z",
    ],
    [
      "is a month across a clock change",
      "month",
      "America/New_York",
      "2026-03-20T12:00Z",
      "2026-03-01T05:00Z",
      "2026-04-01T04:00Z",
    ],
    [
      "is a day with a clock change of half an hour",
      "day",
      "Australia/Lord_Howe",
      "2026-04-04T18:00Z",
      "2026-04-04T13:00Z",
      "2026-04-05T13:30Z",
    ],
    [
      "starts at 01:00 on a day without a midnight",
      "day",
      "America/Sao_Paulo",
      "2018-11-04T12:00Z",
      "2018-11-04T03:00Z",
      "2018-11-05T02:00Z",
    ],
    [
      "ends at 01:00 before a day without a midnight",
      "day",
      "America/Sao_Paulo",
      "2018-11-04T02:59:59.999Z",
      "2018-11-03T03:00Z",
      "2018-11-04T03:00Z",
    ],
    [
      "is a month whose first day has no midnight",
      "month",
      "Asia/Damascus",
      "2011-04-01T12:00Z",
      "2011-03-31T22:00Z",
      "2011-04-30T21:00Z",
    ],
    [
      "starts at the first of two midnights",
      "day",
      "America/Havana",
      "2026-11-01T05:30Z",
      "2026-11-01T04:00Z",
      "2026-11-02T05:00Z",
    ],
    [
      "gives an evening that occurs twice to the new day",
      "day",
      "America/St_Johns",
      "2010-11-07T03:00Z",
      "2010-11-07T02:30Z",
      "2010-11-08T03:30Z",
    ],
    [
      "skips a date that a zone skipped",
      "day",
      "Pacific/Apia",
      "2011-12-30T09:59Z",
      "2011-12-29T10:00Z",
      "2011-12-30T10:00Z",
    ],
    [
      "starts after the skipped date",
      "day",
      "Pacific/Apia",
      "2011-12-30T10:00Z",
      "2011-12-30T10:00Z",
      "2011-12-31T10:00Z",
    ],
  ])("%s", (_, period, zone, at, start, end) => {
    const atMs = Date.parse(at);
    expect(new Date(periodStart(period, atMs, zone))).toEqual(new Date(start));
    expect(new Date(periodEnd(period, atMs, zone) ?? 0)).toEqual(new Date(end));
  });

  test("total is independent of the zone", () =>
    expect(periodStart("total", Date.now(), "Asia/Tokyo")).toBe(0));

  const zones = ["UTC", "Etc/UTC", "America/St_Johns", "America/Sao_Paulo", "Pacific/Apia", "Asia/Kathmandu"];
  const around = fc.integer({ min: Date.UTC(2007, 0), max: Date.UTC(2027, 0) });

  test("follows the previous one without a gap, whatever spans are cached", () => {
    const periods = fc.constantFrom<CalendarPeriod>("day", "week", "month");
    fc.assert(
      fc.property(periods, fc.constantFrom(...zones), around, (period, zone, atMs) => {
        const [start, end] = [periodStart(period, atMs, zone), periodEnd(period, atMs, zone) ?? 0];
        expect(start <= atMs && atMs < end).toBe(true);
        for (const inside of [start, end - 1]) expect(periodStart(period, inside, zone)).toBe(start);
        expect(periodStart(period, end, zone)).toBe(end);
        expect(periodEnd(period, start - 1, zone)).toBe(start);
        expect(periodStart(period, atMs, zone)).toBe(start);
      }),
      { numRuns: 300 },
    );
  });

  test("in an alias of UTC equals the period in UTC", () => {
    fc.assert(
      fc.property(fc.constantFrom<CalendarPeriod>("day", "week", "month"), around, (period, atMs) => {
        expect(periodStart(period, atMs, "Etc/UTC")).toBe(periodStart(period, atMs));
        expect(periodEnd(period, atMs, "Etc/UTC")).toBe(periodEnd(period, atMs, "UTC"));
      }),
    );
  });
});

test("a time zone is a name in the IANA database, not an offset", () => {
  expect(["UTC", "Europe/Berlin", "US/Pacific", "Asia/Kolkata"].map(isTimeZone)).toEqual(Array(4).fill(true));
  const invalid = [
    "",
    "+02:00",
    "-0500",
    "Mars/Olympus",
    "Europe/Berlin ",
    "Europe/Berlin\u0000",
    "UTC[u-ca=hebrew]",
  ];
  expect(invalid.map(isTimeZone)).toEqual(invalid.map(() => false));
});
