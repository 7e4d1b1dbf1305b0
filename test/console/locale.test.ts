import { describe, expect, test } from "bun:test";
import { localise } from "../../src/console/format.ts";
import { createLocale } from "../../src/console/locale.ts";
import { createFormat, formatTime } from "../../src/console/times.ts";
import { printTypedAmount, readTypedAmount } from "../../src/console/typed-amount.ts";

describe("amounts are printed as in the language of the browser", () => {
  test.each([
    ["en-US", "$1,234,567.50", "$1,234,567.50"],
    ["de-DE", "$1,234,567.50", "1.234.567,50\u00a0$"],
    ["en-IN", "−$1,234,567.50", "−$12,34,567.50"],
    ["de-DE", "−<$0.01", "−<0,01\u00a0$"],
    ["ar-EG", "$1,234.50", "1,234.50\u00a0US$"],
    [
      "de-DE",
      "The wallet of $0.00 would refuse it: $1,000.000000001 left.",
      "The wallet of 0,00\u00a0$ would refuse it: 1.000,000000001\u00a0$ left.",
    ],
    ["en-US", "The balance is 9.50 USD, below 1000.00 USD.", "The balance is $9.50, below $1,000.00."],
    [
      "de-DE",
      "The balance is 9.50 USD, below 1000.00 USD.",
      "The balance is 9,50\u00a0$, below 1.000,00\u00a0$.",
    ],
    ["de-DE", "A key of 12,000 tokens at 1.5", "A key of 12,000 tokens at 1.5"],
  ])("in %s: %s is %s", (language, text, shown) => {
    expect(localise(text, createLocale(language))).toBe(shown);
  });

  test("a text that is no language is English, and no extension of a language changes digits or the calendar", () => {
    expect(["tlh!", undefined, "*", "C"].map((each) => createLocale(each).tag)).toEqual(
      Array.from({ length: 4 }, () => "en-GB-u-ca-gregory-nu-latn"),
    );
    expect(createLocale("ar-EG-u-nu-arab").group(1234)).toMatch(/^1.234$/);
  });
});

describe("times", () => {
  const AT = "2026-11-27T10:00:30Z";
  test.each([
    ["minute", /^27 Nov 2026, \d\d:\d\d$/],
    ["zoned", /^27 Nov 2026, \d\d:\d\d \S+$/],
    ["second", /^27 Nov 2026, \d\d:\d\d:30$/],
    ["relative", /^3 hr\.? ago$/],
  ] as const)("as %s break between date and time of day alone", (style, shown) => {
    const text = formatTime(AT, style, Date.parse(AT) + 3 * 3_600_000);
    expect(text.replaceAll("\u00a0", " ")).toMatch(shown);
    expect(text.match(/.? /g) ?? []).toEqual(style === "relative" ? [] : [", "]);
  });
});

describe("times have no word of another language than English", () => {
  const options = {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
  } as const;
  const at = new Date("2026-11-22T13:05:00Z");
  test.each([
    ["en-US", "Nov 22, 2026, 01:05 PM"],
    ["en-GB", "22 Nov 2026, 13:05"],
    ["de-DE", "22.11.2026, 13:05"],
    ["ja-JP", "2026/11/22 13:05"],
    ["ko-KR", "2026. 11. 22. 13:05"],
    ["fa-IR", "2026/11/22, 13:05"],
    ["ar-EG", "22/11/2026, 13:05"],
    ["sv-SE", "2026-11-22 13:05"],
  ])("%s prints %s", (language, shown) => {
    const format = createFormat({ ...options, timeZone: "UTC" }, createLocale(language));
    expect(format.format(at).replaceAll("\u202f", " ")).toBe(shown);
  });
});

describe("amounts are read as in the language of the browser", () => {
  test.each([
    ["en-US", "25", "25"],
    ["en-US", "$ 1,234.56", "1234.56"],
    ["de-DE", "1.234,56 $", "1234.56"],
    ["de-DE", "25,5", "25.5"],
    ["de-DE", "25.00", "25.00"],
    ["fr-FR", "1\u202f234,56", "1234.56"],
    ["de-CH", "1’234.56", "1234.56"],
    ["en-IN", "12,34,567.50", "1234567.50"],
    ["en-US", "0.125", "0.125"],
    ["en-US", "1234.567", "1234.567"],
    ["en-US", "1,234,567", "1234567"],
    ["de-DE", "0,000000001", "0.000000001"],
  ])("in %s: %s is %s", (language, text, usd) => {
    expect(readTypedAmount(text, { locale: createLocale(language) })).toEqual({ usd });
  });

  test.each(["1.000", "12,500", "$ 12.500", "100.000 $"])(
    "%s is one or a thousand, and refused everywhere",
    (text) => {
      for (const locale of ["en-US", "de-DE"].map(createLocale)) {
        expect(readTypedAmount(text, { locale })).toEqual({ problem: "ambiguous" });
      }
    },
  );

  test.each([
    ["en-US", "1.234,56"],
    ["en-US", "25,00"],
    ["de-DE", "1,234.56"],
    ["en-US", "1,23.4"],
    ["en-US", "12,34,5"],
    ["en-US", "-5"],
    ["en-US", "1e3"],
    ["en-US", "0.0000000001"],
    ["en-US", "12345678901"],
    ["en-US", "5 EUR"],
    ["en-US", ""],
  ])("in %s: %s is no amount", (language, text) => {
    expect(readTypedAmount(text, { locale: createLocale(language) })).toEqual({ problem: "malformed" });
  });

  test("every amount of a field is read back as it was, in each language", () => {
    for (const locale of ["en-US", "de-DE", "fr-FR", "en-IN"].map(createLocale)) {
      for (const usd of ["0.000000001", "1.000", "12.500", "1234567890.123456789", "5.00", "999"]) {
        const read = readTypedAmount(printTypedAmount(usd, locale), { locale });
        expect("usd" in read && Number(read.usd)).toBe(Number(usd));
      }
    }
  });
});
