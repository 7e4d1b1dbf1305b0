import { describe, expect, test } from "bun:test";
import { printChange, printShare } from "../../src/console/compare.ts";
import { RANGES, type RangeName } from "../../src/console/ranges.ts";
import { linksOfChart } from "../../src/console/usage-links.ts";
import { resolveUsage, unitsOf } from "../../src/console/usage-view.ts";
import { readView } from "../../src/usage/view.ts";

const NOW = Date.parse("2026-11-22T12:30:00Z");
const BERLIN = { isOperator: false, nowMs: NOW, offsetMinutes: 60 };

describe("a usage view in the URL", () => {
  test("days of 7 and 30 days are those of the viewer, days of other ranges those of UTC", () => {
    expect(resolveUsage({ range: "7d" }, BERLIN)).toMatchObject({ by: "day", offset_h: 1 });
    expect(resolveUsage({ range: "90d" }, BERLIN)).toMatchObject({ by: "day", offset_h: 0 });
    expect(resolveUsage({ from: "2026-11-01", to: "2026-11-09" }, BERLIN).offset_h).toBe(0);
    expect(resolveUsage({ range: "7d" }, { ...BERLIN, offsetMinutes: -210 }).offset_h).toBe(-4);
  });

  test.each([-12, -8, -3.5, 0, 1, 5.75, 14])(
    "one range has the same requests by hours, days and in all, %p h ahead of UTC",
    (hours) => {
      const viewer = { isOperator: false, nowMs: NOW, offsetMinutes: hours * 60 };
      for (const range of Object.keys(RANGES) as RangeName[]) {
        const query = resolveUsage({ range }, viewer);
        const units = [...unitsOf(query), "none"] as const;
        const views = units.map((by) => readView("account", { ...query, by, group: "none" }, NOW).range);
        expect(views.map(({ fromMs }) => new Date(fromMs).toISOString())).toEqual(
          units.map(() => query.from),
        );
        for (const { toMs } of views) expect(toMs).toBeGreaterThan(NOW);
      }
    },
  );

  test("a month begins on its first UTC day", () =>
    expect(resolveUsage({ range: "month" }, BERLIN).from).toBe("2026-11-01T00:00:00.000Z"));

  test("hours give way to days where they are too many", () => {
    expect(resolveUsage({ range: "90d", by: "hour" }, BERLIN).by).toBe("day");
    expect(resolveUsage({ range: "7d", by: "hour" }, BERLIN).by).toBe("hour");
    expect(resolveUsage({ range: "24h", by: "day" }, BERLIN).by).toBe("hour");
    expect(unitsOf(resolveUsage({ range: "7d" }, BERLIN))).toEqual(["hour", "day"]);
  });

  test("a group that the viewer may not see gives way to the usual one", () => {
    expect(resolveUsage({ group: "account" }, BERLIN).group).toBe("model");
    expect(resolveUsage({ group: "toString" }, BERLIN).group).toBe("model");
    expect(resolveUsage({ group: "key" }, { ...BERLIN, isOperator: true }).group).toBe("account");
  });
});

describe("the bars of a chart of requests", () => {
  test("lead to the answered requests of their hour, to the failed ones, or to all", () => {
    const query = {
      from: "2026-11-27T00:00:00Z",
      to: "2026-11-27T02:00:00Z",
      by: "hour",
      offset_h: 0,
      group: "none",
    } as const;
    const times = ["2026-11-27T00:00:00Z", "2026-11-27T01:00:00Z"];
    const { placeLink } = linksOfChart({ account: "a1", query, times });
    const hour = { from: "2026-11-27T01:00Z", to: "2026-11-27T02:00Z" };
    for (const [series, filter] of [
      ["ok", { outcome: "ok" }],
      ["errors", { outcome: "failed" }],
      ["input", {}],
    ] as const)
      expect(placeLink(1, series)?.search).toEqual({ ...hour, ...filter });
  });
});

describe("a comparison with the period before", () => {
  test.each([
    [110, 100, "+10%"],
    [95, 100, "−5%"],
    [100, 100, "unchanged"],
    [100_049, 100_000, "unchanged"],
    [100_051, 100_000, "+0.1%"],
    [1_200, 100, "×12"],
    [5, 0, undefined],
    [5, undefined, undefined],
  ])("%p after %p is %p", (now, before, text) => expect(printChange(now, before)).toBe(text));

  test("a share of nothing is a dash, and a small one is not 0%", () => {
    expect(printShare(0, 0)).toBe("–");
    expect(printShare(1, 100_000)).toBe("<0.1%");
  });
});
