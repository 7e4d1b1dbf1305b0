/** What the browser's language decides about numbers, amounts and times. Words stay English in every language. */
export interface Locale {
  /** With Western digits and the Gregorian calendar, which the API and the fields of forms have too. */
  readonly tag: string;
  /** Whether its times may have words: the names of months, "PM". */
  readonly isEnglish: boolean;
  /** The decimal point: "," in German. */
  readonly point: string;
  /** Prints a whole number: "1,234" in English, "1.234" in German. */
  readonly group: (whole: number | bigint) => string;
  /** Puts the sign of dollars to a number: "$5" in English, "5 $" in German. */
  readonly withDollar: (number: string) => string;
}

const FALLBACK = "en-GB";

/** Creates what a language decides; English for a text that is no language. */
export function createLocale(language: string | undefined): Locale {
  const [tag] = Intl.NumberFormat.supportedLocalesOf(cleanTag(language));
  const locale = `${tag ?? FALLBACK}-u-ca-gregory-nu-latn`;
  const money = { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol" } as const;
  const parts = new Intl.NumberFormat(locale, money).formatToParts(1.5);
  const digits = parts.map(({ type }) => type === "integer" || type === "decimal" || type === "fraction");
  const textOf = (from: number, to: number) =>
    toLeftToRight(
      parts
        .slice(from, to)
        .map(({ value }) => value)
        .join(""),
    );
  const before = textOf(0, digits.indexOf(true));
  const after = textOf(digits.lastIndexOf(true) + 1, parts.length);
  const whole = new Intl.NumberFormat(locale);
  return {
    tag: locale,
    isEnglish: /^en\b/.test(locale),
    point: parts.find(({ type }) => type === "decimal")?.value ?? ".",
    group: (number) => whole.format(number),
    withDollar: (number) => before + number + after,
  };
}

/** Of a language that is written from right to left: its marks would turn numbers around among English words. */
export function toLeftToRight(text: string): string {
  return text.replace(/[\u200e\u200f\u061c]/g, "").replace("\u060c", ",");
}

/** Returns a language tag without its extensions; the fallback for a text that is no tag, at which Intl would throw. */
function cleanTag(language: string | undefined): string {
  const [tag = ""] = /^[a-z]{2,3}(-[a-z\d]{4,8})?(-[a-z]{2}|-\d{3})?(?![^-])/i.exec(language ?? "") ?? [];
  return tag === "" ? FALLBACK : tag;
}

/** What the language of this browser decides. */
export const LOCALE = createLocale(globalThis.navigator?.language);
