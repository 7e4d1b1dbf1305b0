import { describe, expect, test } from "bun:test";
import { isExpression } from "../../src/recordings/expressions.ts";
import { dropMedia, type RedactionRules, Redactor } from "../../src/recordings/redact.ts";

const NO_RULES: RedactionRules = { keepsMedia: false, patterns: [], expressions: [] };
const ALL: RedactionRules = { ...NO_RULES, patterns: ["email", "card", "secret"] };
const WHOLE = 1_000_000;

function redact(value: unknown, rules = ALL): unknown {
  return JSON.parse(new Redactor(rules).redactJson(JSON.stringify(value), WHOLE).text);
}

describe("what is redacted of a text", () => {
  test.each([
    ["ask ada@example.com now", "ask [redacted: email] now"],
    ["müller@bücher.example", "[redacted: email]"],
    ["pay 4111 1111 1111 1111.", "pay [redacted: card]."],
    ["pay 4111-1111-1111-1112.", "pay 4111-1111-1111-1112."],
    ["key sk-proj-abcdefghijklmnopqrst", "key [redacted: secret]"],
    ["task-force-one", "task-force-one"],
    ["AKIAIOSFODNN7EXAMPLE", "[redacted: secret]"],
    ["ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted: secret]"],
    ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "[redacted: secret]"],
    ["Authorization: Bearer abcdefghijklmnop1234", "Authorization: Bearer [redacted: secret]"],
    ["postgres://ada:hunter2@db.example/x", "postgres://[redacted: secret]@db.example/x"],
    ["a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b", "a [redacted: secret] b"],
    ["a -----BEGIN PRIVATE KEY-----\nMII cut off", "a [redacted: secret]"],
  ])("%s", (text, expected) => expect(redact({ text })).toEqual({ text: expected }));

  test("a pattern is found in names of members, in numbers, behind escapes, and in JSON within a text", () => {
    expect(redact({ "ada@example.com": 1 })).toEqual({ "[redacted: email]": 1 });
    expect(redact([4111111111111111, 12])).toEqual(["[redacted: card]", 12]);
    const redactor = new Redactor(ALL);
    expect(redactor.redactJson('"ada\\u0040example.com"', WHOLE).text).toBe('"[redacted: email]"');
    const nested = JSON.stringify({ note: "line\nsk-abcdefghijklmnopqrst" });
    expect(redact({ arguments: nested })).toEqual({ arguments: '{"note":"line\\n[redacted: secret]"}' });
  });

  test("a text without anything to redact stays byte for byte", () => {
    const text = '{ "a" : "\\u00e9\\/x",\n "n": 1.50e+2, "l": [true, null] }';
    expect(new Redactor(ALL).redactJson(text, WHOLE)).toEqual({ text, isCut: false });
  });

  test("an own expression is redacted, and no empty match", () => {
    const rules = { ...NO_RULES, expressions: ["\\bcustomer \\d+\\b", "b*"] };
    const redactor = new Redactor(rules);
    expect(redactor.redactText("for customer 42 abba", WHOLE)).toBe(
      "for [redacted: rule 1] a[redacted: rule 2]a",
    );
    expect(redactor.count).toBe(2);
  });

  test("a body that is cut in the middle of a string or an escape is read as far as it goes", () => {
    const text = JSON.stringify({ a: "ada@example.com", b: `x${"y".repeat(2_000)}\u0001` });
    for (const cut of [1, 2, 3, 5, 6, 7, 8, 1_500, 2_007]) {
      const read = new Redactor(ALL).redactJson(text.slice(0, -cut), WHOLE).text;
      expect(read).toStartWith('{"a":"[redacted: email]","b":"');
      expect(read.length).toBeLessThan(text.length);
    }
  });

  test("a text above the bound is cut behind what is redacted", () => {
    const read = new Redactor(ALL).redactJson(
      JSON.stringify({ a: "ada@example.com", b: "c".repeat(99) }),
      30,
    );
    expect(read).toEqual({ text: '{"a":"[redacted: email]","b":"', isCut: true });
  });
});

describe("files in a text", () => {
  const png = `iVBORw0KGgo${"A".repeat(700)}`;

  test("are replaced by their type and length", () => {
    expect(dropMedia(`data:image/png;base64,${png}`)).toBe("[image/png, 711 characters of base64]");
    expect(dropMedia(png)).toBe("[image/png, 711 characters of base64]");
    expect(dropMedia("data:audio/wav;charset=x;base64,QUJD")).toBe("[audio/wav, 4 characters of base64]");
    expect(dropMedia("x".repeat(511))).toBe("x".repeat(511));
  });

  test("are replaced when they come in lines", () => {
    const lines = (png.match(/.{1,76}/g) ?? []).join("\r\n");
    expect(dropMedia(`before ${lines} after`)).toBe("before [image/png, 711 characters of base64] after");
    const prose = "one-word\n".repeat(100);
    expect(dropMedia(prose)).toBe(prose);
  });

  test("stay where the key keeps them", () => {
    expect(redact({ data: png }, { ...ALL, keepsMedia: true })).toEqual({ data: png });
  });
});

describe("hostile rules and texts", () => {
  test.each(["(a+)+$", "(a|aa)+$", "([a-z]{0,100}){0,10}x", "(.*)*x", "x*y*z*(a|b|c)*d"])(
    "the expression %s takes time in proportion to the text",
    (expression) => {
      const began = performance.now();
      redact({ text: "a".repeat(100_000) }, { ...NO_RULES, expressions: [expression] });
      redact({ text: `${"a".repeat(50_000)}!` }, { ...NO_RULES, expressions: [expression] });
      // Backtracking would take longer than the universe has lasted.
      expect(performance.now() - began).toBeLessThan(60_000);
    },
  );

  test("rules that redact the marks of each other lengthen no text beyond what is kept", () => {
    const redactor = new Redactor({ ...NO_RULES, expressions: ["a", "r", "d", "e", "l"] });
    const text = "a ".repeat(4_000);
    for (const json of [JSON.stringify(text), "12".repeat(4_000)]) {
      const read = redactor.redactJson(json, 10_000);
      expect([read.isCut || json.startsWith("1"), read.text.length <= 10_000]).toEqual([true, true]);
    }
    expect(redactor.count).toBeLessThan(20_000);
  });

  test.each([
    ...["(?=a)b", "(a)\\1", "(", "a{1001}", "(((a{100}){100}){100})", "a*", "", "^"],
    `${"(a?){1000}".repeat(18)}b`,
    `(${"(((a?){10}){10}){10}".repeat(6)})b`,
  ])("%p is no expression that a key may have", (text) => expect(isExpression(text)).toBe(false));

  test("a thousand characters in a row and an address are expressions that a key may have", () => {
    expect(["a{1000}", "[A-Za-z0-9.-]{1,255}@[A-Za-z0-9.-]{1,255}"].map(isExpression)).toEqual([true, true]);
  });

  test.each([
    "a".repeat(1_000_000),
    "eyJ".repeat(300_000),
    "-----BEGIN PRIVATE KEY-----".repeat(30_000),
    "a.".repeat(400_000),
    "1 ".repeat(400_000),
    `${"a-".repeat(300)}@`.repeat(1_000),
    "sk-".repeat(300_000),
    "://a".repeat(200_000),
    `${"A".repeat(511)} `.repeat(1_500),
    "data:a/b;".repeat(80_000),
  ])("a text that repeats %.20s is redacted", (text) => {
    const began = performance.now();
    new Redactor(ALL).redactText(text, WHOLE);
    expect(performance.now() - began).toBeLessThan(60_000);
  });
});
