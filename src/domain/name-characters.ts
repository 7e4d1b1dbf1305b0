/**
 * Characters that no name has, for the inside of a character class: control characters, ends of lines, marks that
 * change the direction of the text behind a name, and characters that show nothing. Two names that differ in one of
 * them alone look equal. Arabic, Hebrew and Hangul need none of them.
 */
export const NOT_IN_NAMES =
  "\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b" +
  "\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb";

/** The invisible characters beyond U+FFFF, in the halves that a pattern without the flag "u" sees. */
const INVISIBLE_PAIRS =
  "\\ud82f[\\udca0-\\udca3]|\\ud834[\\udd73-\\udd7a]|\\udb40[\\udc00-\\udcff\\uddf0-\\udfff]|[\\udb41-\\udb43][\\udc00-\\udfff]";
/** A joiner makes one emoji of several and parts Persian words; beside ASCII or at an end it shows nothing. */
const LOOSE_JOINERS = "(?:^|[ -~])[\\u200c\\u200d]|[\\u200c\\u200d](?:[ -~]|$)";
/** A variation selector changes the look of an emoji, a Han character or a keycap; behind other ASCII it shows nothing. */
const VARIATION = "(?:[\\ufe00-\\ufe0f]|\\udb40[\\udd00-\\uddef])";
const LOOSE_VARIATIONS = `(?:^|[ -~])${VARIATION}(?!\\u20e3)`;

/**
 * The beginning of the pattern of every name, before its character classes. Patterns have no flag, because schemas
 * carry them as texts.
 */
export const NAME_BEGIN = `^(?![\\s\\S]*(?:${INVISIBLE_PAIRS}|${LOOSE_JOINERS}|${LOOSE_VARIATIONS}))`;

/** The pattern of a name in one line of 1 to 100 characters. */
export const NAME = new RegExp(`${NAME_BEGIN}[^${NOT_IN_NAMES}]{1,100}$`);

const REFUSED = new RegExp(`[${NOT_IN_NAMES}]|${INVISIBLE_PAIRS}`, "g");
const MODIFIERS = new RegExp(`[\\u200c\\u200d]|${VARIATION}`, "g");

/** Makes a name of a text: blanks in place of what no name has, at most 100 characters. Returns "" when none is left. */
export function cleanName(text: string): string {
  const plain = text.replace(REFUSED, " ").trim().slice(0, 100).toWellFormed().trim();
  // Joiners and selectors are dropped all together where one of them is loose.
  return plain === "" || NAME.test(plain) ? plain : plain.replace(MODIFIERS, "").trim();
}
