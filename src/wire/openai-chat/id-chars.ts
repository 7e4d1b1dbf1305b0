/** Longest id of a call that all hosts take. */
export const ID_CHARS_MAX = 40;
