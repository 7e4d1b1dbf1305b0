import { describe, expect, test } from "bun:test";
import {
  type KeyValues,
  readExpiry,
  readKeyForm,
  valuesOf,
} from "../../src/console/pages/keys/key-values.ts";
import { changesOf } from "../../src/console/parts/conflict-dialog.tsx";
import { formatDay } from "../../src/console/times.ts";

const PLAIN: KeyValues = {
  name: "laptop",
  spending_limit: null,
  requests_per_minute: null,
  tokens_per_minute: null,
  concurrent_requests: null,
  models: null,
  expires_at: null,
  tiers: null,
  allows_paid_tools: false,
  allows_clamp: false,
  allows_children: false,
  project_id: null,
};

describe("the form of a key", () => {
  test("empty fields are no limit, no expiry and every model", () => {
    expect(readKeyForm(formOf({ name: " laptop ", amount_usd: "", scope: "all", models: "a" }))).toEqual(
      PLAIN,
    );
  });

  test("an amount is read with its dollar sign and without needless zeros", () => {
    const form = formOf({ name: "a", amount_usd: "$5.50", period: "day", time_zone: "Europe/Berlin" });
    expect(readKeyForm(form).spending_limit).toEqual({
      amount_usd: "5.50",
      period: "day",
      time_zone: "Europe/Berlin",
    });
  });

  test("an amount that is none is left to the server, which refuses it", () => {
    const form = formOf({ name: "a", amount_usd: "five", period: "day" });
    expect(readKeyForm(form).spending_limit?.amount_usd).toBe("five");
  });

  test("a limit of 0 is a limit", () =>
    expect(readKeyForm(formOf({ name: "a", requests_per_minute: "0" })).requests_per_minute).toBe(0));

  test("the chosen models are sorted, so that their order is no change", () => {
    const form = formOf({ name: "a", scope: "some" });
    form.append("models", "");
    form.append("models", "b");
    form.append("models", "a");
    expect(readKeyForm(form).models).toEqual(["a", "b"]);
  });

  test("an expiry whose day is unchanged keeps its second", () => {
    const before = "2026-12-31T10:11:12.000Z";
    expect(readExpiry(formatDay(Date.parse(before)), before)).toBe(before);
    expect(readExpiry("", before)).toBeNull();
    expect(formatDay(Date.parse(String(readExpiry("2027-01-05", before))))).toBe("2027-01-05");
  });

  test("only what differs is sent, and null for a limit that was emptied", () => {
    const limited: KeyValues = { ...PLAIN, spending_limit: { amount_usd: "25.00", period: "month" } };
    const after = { ...PLAIN, requests_per_minute: 5, models: ["a"] };
    expect(changesOf(limited, after)).toEqual({
      spending_limit: null,
      requests_per_minute: 5,
      models: ["a"],
    });
    expect(changesOf(limited, structuredClone(limited))).toEqual({});
  });

  test("a limit by default is not a limit of the key's own", () => {
    const rate = { limit: 60, source: "default" as const };
    const key = { ...PLAIN, spending_limit: null, requests_per_minute: rate };
    expect(
      valuesOf({ ...key, tokens_per_minute: { limit: 9, source: "key" }, concurrent_requests: null }),
    ).toEqual({ ...PLAIN, tokens_per_minute: 9 });
  });
});

function formOf(fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}
