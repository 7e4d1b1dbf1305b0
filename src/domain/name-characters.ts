/**
 * Characters that no name has, for the inside of a character class: control characters, ends of lines, marks that
 * change the direction of the text behind a name, and characters that show nothing. Two names that differ in one of
 * them alone look equal. Arabic, Hebrew and Hangul need none of them.
 */
export const NOT_IN_NAMES =
  "\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b" +
  "\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb";

/** The invisible characters beyond U+FFFF, in the halves that a pattern without the flag "u" sees. */
const INVISIBLE_PAIRS = "\\ud82f[\\udca0-\\udca3]|\\ud834[\\udd73-\\udd7a]|\\udb40[\\udc00-\\udc7f]";
/** A joiner makes one emoji of several and parts Persian words; beside ASCII or at an end it shows nothing. */
const LOOSE_JOINERS = "(?:^|[ -~])[\\u200c\\u200d]|[\\u200c\\u200d](?:[ -~]|$)";

/**
 * The beginning of the pattern of every name, before its character classes. Patterns have no flag, because schemas
 * carry them as texts.
 */
export const NAME_BEGIN = `^(?![\\s\\S]*(?:${INVISIBLE_PAIRS}|${LOOSE_JOINERS}))`;
