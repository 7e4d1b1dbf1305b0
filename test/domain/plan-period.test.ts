import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isPlanPeriod, type PlanPeriod, planPeriodStart } from "../../src/domain/plan-period.ts";

interface Case {
  readonly of: string;
  readonly timeZone: string;
  readonly period: PlanPeriod;
  /** The anchor, and the beginnings of the periods after it. */
  readonly starts: readonly string[];
}

const CASES: readonly Case[] = [
  {
    of: "a 31st ends on the last day of shorter months and returns to the 31st",
    timeZone: "UTC",
    period: "month",
    starts: [
      "2026-01-31T10:00Z",
      "2026-02-28T10:00Z",
      "2026-03-31T10:00Z",
      "2026-04-30T10:00Z",
      "2026-05-31T10:00Z",
      "2026-06-30T10:00Z",
      "2026-07-31T10:00Z",
      "2026-08-31T10:00Z",
    ],
  },
  {
    of: "a 30th ends on the 29th of a February with a leap day",
    timeZone: "UTC",
    period: "month",
    starts: ["2027-12-30T00:00Z", "2028-01-30T00:00Z", "2028-02-29T00:00Z", "2028-03-30T00:00Z"],
  },
  {
    of: "a leap day has a last of February in the years between",
    timeZone: "UTC",
    period: "month",
    starts: ["2028-02-29T12:00Z", "2028-03-29T12:00Z", "2028-04-29T12:00Z", "2028-05-29T12:00Z"],
  },
  {
    of: "a month across a clock change begins at one time of the clock",
    timeZone: "Europe/Berlin",
    period: "month",
    starts: ["2026-02-15T08:00Z", "2026-03-15T08:00Z", "2026-04-15T07:00Z"],
  },
  {
    of: "a 31st of the zone is a 30th in UTC",
    timeZone: "Asia/Tokyo",
    period: "month",
    starts: ["2026-01-30T16:00Z", "2026-02-27T16:00Z", "2026-03-30T16:00Z"],
  },
  {
    of: "a time that the clocks skip is the hour after it, and the next period has the time again",
    timeZone: "America/New_York",
    period: "month",
    starts: ["2026-02-08T07:30Z", "2026-03-08T07:30Z", "2026-04-08T06:30Z"],
  },
  {
    of: "a time that occurs twice is its first occurrence",
    timeZone: "Europe/Berlin",
    period: "1d",
    starts: ["2026-10-24T00:30Z", "2026-10-25T00:30Z", "2026-10-26T01:30Z"],
  },
  {
    of: "an anchor in the second occurrence of a time stays where it is",
    timeZone: "Europe/Berlin",
    period: "7d",
    starts: ["2026-10-25T01:30Z", "2026-11-01T01:30Z", "2026-11-08T01:30Z"],
  },
  {
    of: "days are days of the calendar, of 23 hours where clocks go forward",
    timeZone: "Europe/Berlin",
    period: "1d",
    starts: ["2026-03-28T12:00Z", "2026-03-29T11:00Z", "2026-03-30T11:00Z"],
  },
  {
    of: "30 days are no month",
    timeZone: "UTC",
    period: "30d",
    starts: ["2026-01-31T00:00Z", "2026-03-02T00:00Z", "2026-04-01T00:00Z", "2026-05-01T00:00Z"],
  },
  {
    of: "a half hour's clock change of Lord Howe moves no time of the clock",
    timeZone: "Australia/Lord_Howe",
    period: "7d",
    starts: ["2026-09-29T01:30Z", "2026-10-06T01:00Z", "2026-10-13T01:00Z"],
  },
];

test.each(CASES)("$of", ({ timeZone, period, starts }) => {
  const times = starts.map((start) => Date.parse(start));
  const anchor = { atMs: times[0] ?? 0, timeZone, period };
  expect(times.map((_, index) => new Date(planPeriodStart(anchor, index)).toISOString())).toEqual(
    times.map((ms) => new Date(ms).toISOString()),
  );
});

test.each([
  ["month", true],
  ["1d", true],
  ["366d", true],
  ["367d", false],
  ["0d", false],
  ["07d", false],
  ["week", false],
  ["1.5d", false],
])("%s is a period: %p", (text, expected) => {
  expect(isPlanPeriod(text)).toBe(expected);
});

const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"];
const FIRST = Date.UTC(2024, 0, 1);
const LAST = Date.UTC(2036, 0, 1);
const anchors = fc.record({
  atMs: fc.integer({ min: FIRST, max: LAST }),
  timeZone: fc.constantFrom(...ZONES),
  period: fc.constantFrom<PlanPeriod>("month", "1d", "7d", "30d", "366d"),
});

describe("against a reckoning by Intl, which walks the calendar day by day", () => {
  /** The parts of a time on the clock of a zone: "2026-03-29" and "01:30:00". */
  const clockOf = (timeZone: string) => {
    const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" });
    return (ms: number) => format.format(ms).split(" ") as [string, string];
  };

  /** The date that lies `days` days after another, by counting in UTC. */
  const daysAfter = (date: string, days: number) =>
    new Date(Date.parse(`${date}T00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);

  /** The date of a month's day, or of its last day, by trying dates from above. */
  const monthsAfter = (date: string, months: number) => {
    const [year = 0, month = 0, day = 0] = date.split("-").map(Number);
    const index = year * 12 + month - 1 + months;
    const name = `${Math.floor(index / 12)}-${String((index % 12) + 1).padStart(2, "0")}`;
    for (let tried = day; ; tried--) {
      const text = `${name}-${String(tried).padStart(2, "0")}`;
      const ms = Date.parse(`${text}T00:00Z`);
      if (!Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text)) return text;
    }
  };

  test("every period begins on its date, at the time of the anchor unless clocks skip it", () => {
    fc.assert(
      fc.property(anchors, fc.integer({ min: 1, max: 60 }), (anchor, index) => {
        const clock = clockOf(anchor.timeZone);
        const [date, time] = clock(anchor.atMs);
        const { period } = anchor;
        const expected =
          period === "month"
            ? monthsAfter(date, index)
            : daysAfter(date, index * Number.parseInt(period, 10));
        const startMs = planPeriodStart(anchor, index);
        const [startDate, startTime] = clock(startMs);
        expect(startDate).toBe(expected);
        if (startTime !== time) {
          // Skipped: no minute around shows the time of the anchor on this date.
          const minutes = Array.from({ length: 241 }, (_, at) => startMs + (at - 120) * 60_000);
          expect(minutes.map(clock)).not.toContainEqual([expected, time]);
        } else {
          // Of two occurrences it is the first.
          expect(clock(startMs - 3_600_000)).not.toEqual([expected, time]);
          expect(clock(startMs - 1_800_000)).not.toEqual([expected, time]);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("periods follow each other, none shorter than its days less a clock change", () => {
    fc.assert(
      fc.property(anchors, fc.integer({ min: 0, max: 400 }), (anchor, index) => {
        const days = anchor.period === "month" ? 28 : Number.parseInt(anchor.period, 10);
        const lengthMs = planPeriodStart(anchor, index + 1) - planPeriodStart(anchor, index);
        expect(lengthMs).toBeGreaterThanOrEqual(days * 86_400_000 - 3_600_000);
        expect(lengthMs).toBeLessThanOrEqual(Math.max(days, 31) * 86_400_000 + 3_600_000);
      }),
      { numRuns: 300 },
    );
  });
});
