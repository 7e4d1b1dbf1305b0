import { describe, expect, test } from "bun:test";
import {
  describeValues,
  type ProjectValues,
  readProjectForm,
} from "../../src/console/pages/projects/project-forms.tsx";
import { describeLimit, readLimit } from "../../src/console/spending-limits.ts";

const PLAIN: ProjectValues = { name: "search", spending_limit: null, end_user_limit: null };

describe("the form of a project", () => {
  test("has two limits, each with a period and a zone of its own", () => {
    const form = formOf({
      name: " search ",
      spending_limit: "$25",
      "spending_limit.period": "month",
      "spending_limit.time_zone": "UTC",
      end_user_limit: "0.05",
      "end_user_limit.period": "5h",
      "end_user_limit.time_zone": "Asia/Kolkata",
    });
    expect(readProjectForm(form)).toEqual({
      name: "search",
      spending_limit: { amount_usd: "25.00", period: "month" },
      end_user_limit: { amount_usd: "0.05", period: "5h", time_zone: "Asia/Kolkata" },
    });
  });

  test("is put into words for a conflict", () =>
    expect(describeValues(PLAIN)).toEqual([
      ["Name", "search"],
      ["Budget", "none"],
      ["Each end user", "none"],
    ]));
});

describe("a spending limit", () => {
  test("names its period and a zone that is not UTC", () => {
    expect(describeLimit({ amount_usd: "5.00", period: "168h" })).toBe("$5.00 per 168 hours");
    const zoned = { amount_usd: "0.000000001", period: "day", time_zone: "Asia/Kolkata" };
    expect(describeLimit(zoned)).toBe("$0.000000001 per day, Asia/Kolkata");
  });

  test("in total has no zone, and an empty amount is no limit", () => {
    const form = formOf({ amount_usd: "1", period: "total", time_zone: "Asia/Kolkata" });
    expect(readLimit(form)).toEqual({ amount_usd: "1.00", period: "total" });
    expect(readLimit(formOf({ amount_usd: " ", period: "day" }))).toBeNull();
  });
});

function formOf(values: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(values)) form.append(name, value);
  return form;
}
