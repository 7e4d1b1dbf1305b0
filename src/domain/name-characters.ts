/**
 * Characters that no name has, for the inside of a character class: control characters, ends of lines, and marks
 * that change the direction of the text behind a name. Arabic, Hebrew and joined emoji need none of them.
 */
export const NOT_IN_NAMES = "\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069";
