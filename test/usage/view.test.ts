import { describe, expect, test } from "bun:test";
import { previousView, readView } from "../../src/usage/view.ts";

const at = (text: string) => Date.parse(`${text}Z`);

/** The range that a view is compared with, as ISO times. */
function comparedWith(query: { readonly from: string; readonly to: string }, now: string) {
  const view = readView("account", { ...query, by: "day" }, at(now));
  const { fromMs, toMs } = previousView(view, at(now)).range;
  return [new Date(fromMs).toISOString(), new Date(toMs).toISOString()];
}

describe("a usage view", () => {
  test("that has ended is compared with the whole range before it", () => {
    const week = { from: "2026-11-09T00:00:00Z", to: "2026-11-16T00:00:00Z" };
    expect(comparedWith(week, "2026-11-22T10:20:00")).toEqual([
      "2026-11-02T00:00:00.000Z",
      "2026-11-09T00:00:00.000Z",
    ]);
  });

  test("that runs is compared with the same hours of the range before it", () => {
    const week = { from: "2026-11-16T00:00:00Z", to: "2026-11-22T11:00:00Z" };
    expect(comparedWith(week, "2026-11-22T10:20:00")).toEqual([
      "2026-11-09T00:00:00.000Z",
      "2026-11-15T11:00:00.000Z",
    ]);
  });

  test("of UTC days is compared with whole days, today included", () => {
    const quarter = { from: "2026-09-01T00:00:00Z", to: "2026-11-30T00:00:00Z" };
    expect(comparedWith(quarter, "2026-11-22T10:20:00")).toEqual([
      "2026-06-03T00:00:00.000Z",
      "2026-08-25T00:00:00.000Z",
    ]);
  });

  test("of the future is compared with the first hour before it", () => {
    const day = { from: "2026-11-23T00:00:00Z", to: "2026-11-24T00:00:00Z" };
    expect(comparedWith(day, "2026-11-22T10:20:00")).toEqual([
      "2026-11-22T00:00:00.000Z",
      "2026-11-22T01:00:00.000Z",
    ]);
  });
});
