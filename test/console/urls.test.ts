import { describe, expect, test } from "bun:test";
import { rangeOfTimes, readRangeSearch, resolveRange } from "../../src/console/ranges.ts";
import { filters, parseSearch, printSearch, rangeAnd } from "../../src/console/search.ts";
import { safePath } from "../../src/domain/console-path.ts";

describe("the path after a sign-in", () => {
  test.each(["/", "/accounts/1/keys?state=active", "/accounts/1/requests?metadata=a%3Db"])(
    "%s is a page of the console",
    (path) => expect(safePath(path)).toBe(path),
  );

  test.each([
    undefined,
    "",
    "accounts",
    "//evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "https://evil.example",
    "javascript:alert(1)",
    "/\t/evil.example",
    "/a\nb",
    "/ü",
    "/../v1/models",
    "/accounts/../../v1/models",
    "/%2e%2E/v1/models",
  ])("%p leads to the overview instead", (path) => expect(safePath(path)).toBe("/"));
});

describe("a range in the URL", () => {
  test.each([
    [{ range: "7d" }, { range: "7d" }],
    [{ range: "8d" }, {}],
    [{ range: "toString" }, {}],
    [
      { from: "2026-11-01", to: "2026-11-03" },
      { from: "2026-11-01", to: "2026-11-03" },
    ],
    [{ from: "2026-11-03", to: "2026-11-01" }, {}],
    [{ from: "2026-11-31x", to: "2026-12-01" }, {}],
    [{ from: "2026-13-01", to: "2026-13-02" }, {}],
    [{ from: 1, to: null, range: [] }, {}],
  ])("%j is read as %j", (search, read) => {
    expect<object>(readRangeSearch(search as Record<string, unknown>)).toEqual(read);
  });

  test("a range of hours is not widened, and one of whole UTC days is written as days", () => {
    const hours = { from: "2026-11-22T14:00Z", to: "2026-11-22T16:00Z" };
    expect<object>(readRangeSearch(hours)).toEqual(hours);
    expect<object>(readRangeSearch({ from: hours.to, to: hours.from })).toEqual({});
    expect<object>(readRangeSearch({ from: "2026-11-22", to: hours.to })).toEqual({});
    expect(resolveRange(hours, { offsetMinutes: 330 })).toEqual({
      from: "2026-11-22T14:00:00.000Z",
      to: "2026-11-22T16:00:00.000Z",
      name: undefined,
      offsetHours: 5,
    });
    expect<object>(rangeOfTimes(Date.parse(hours.from), Date.parse(hours.to))).toEqual(hours);
    const days = { from: "2026-11-01", to: "2026-11-03" };
    const { from, to } = resolveRange(days);
    expect<object>(rangeOfTimes(Date.parse(from), Date.parse(to))).toEqual(days);
  });

  test("a named range ends with the running hour, so that one question is asked for an hour", () => {
    const early = Date.parse("2026-11-22T12:00:00.001Z");
    const late = Date.parse("2026-11-22T12:59:59.999Z");
    expect(resolveRange({ range: "24h" }, { nowMs: early })).toEqual(
      resolveRange({ range: "24h" }, { nowMs: late }),
    );
    expect(resolveRange({ range: "24h" }, { nowMs: early })).toEqual({
      from: "2026-11-21T13:00:00.000Z",
      to: "2026-11-22T13:00:00.000Z",
      name: "24h",
      offsetHours: 0,
    });
  });

  test.each([
    ["30d", 0, "2026-10-24T00:00:00.000Z"],
    ["30d", 60, "2026-10-23T23:00:00.000Z"],
    ["7d", -8 * 60, "2026-11-16T08:00:00.000Z"],
    ["90d", -8 * 60, "2026-08-25T00:00:00.000Z"],
    ["month", -8 * 60, "2026-11-01T00:00:00.000Z"],
  ] as const)(
    "%s of a viewer %i minutes ahead of UTC begin with a whole day, at %s",
    (range, offsetMinutes, from) => {
      const nowMs = Date.parse("2026-11-22T12:30:00Z");
      expect(resolveRange({ range }, { nowMs, offsetMinutes }).from).toBe(from);
    },
  );

  test("both of two chosen days are whole", () => {
    expect(resolveRange({ from: "2026-02-28", to: "2026-02-28" })).toEqual({
      from: "2026-02-28T00:00:00.000Z",
      to: "2026-03-01T00:00:00.000Z",
      name: undefined,
      offsetHours: 0,
    });
  });
});

describe("filters in the URL", () => {
  test("texts that look like numbers, booleans or JSON stay texts", () => {
    const search = { key: "007", model: "true", metadata: '{"a":1}', page: "1e3" };
    expect(parseSearch(printSearch(search))).toEqual(search);
  });

  test("a search without texts is empty", () => expect(printSearch({ key: undefined, page: 5 })).toBe(""));

  test("only named filters are read, and empty ones are left out", () => {
    const read = filters("key", "model");
    expect(read({ key: "k", model: "", other: "x" })).toEqual({ key: "k" });
    expect(rangeAnd("key")({ key: "k", range: "7d", from: "x" })).toEqual({ key: "k", range: "7d" });
    // The router keeps a text that the answer does not name.
    expect(Object.keys(rangeAnd("key")({ key: "", range: "8d" }))).toEqual(["range", "from", "to", "key"]);
  });

  test.each([
    ["scope", "project:p1\nend_user:ada\ntag:team=blue"],
    ["metadata", "team:search:all"],
    ["metadata", "team:"],
    ["page", "x".repeat(4_000)],
    ["model", "openai/gpt-4.1-mini"],
  ])("%s=%j is read", (name, text) =>
    expect<object>(filters(name)({ [name]: text })).toEqual({ [name]: text }),
  );

  test.each([
    ["scope", "planet:earth"],
    ["scope", "project:"],
    ["scope", "project:p1\n"],
    ["scope", Array.from({ length: 9 }, (_, index) => `end_user:${index}`).join("\n")],
    ["metadata", "team"],
    ["metadata", ":search"],
    ["metadata", `team:${"x".repeat(508)}`],
    ["model", "a\0b"],
    ["page", "x".repeat(4_001)],
    ["q", "x".repeat(255)],
    ["q", "x".repeat(1_000_000)],
    ["action", "x".repeat(101)],
  ])("%s=%j, which the API would refuse, is left out", (name, text) =>
    expect<object>(filters(name)({ [name]: text })).toEqual({}),
  );
});
