const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TEXT_CHARACTERS_MAX = 1_000;

/**
 * Whether a text can be in the books at all. One that cannot is never asked for: PostgreSQL refuses NUL, and a
 * lone surrogate would become another character on its way.
 */
export function isStorable(text: string): boolean {
  return text.length <= TEXT_CHARACTERS_MAX && text.isWellFormed() && !text.includes("\0");
}

/** Whether a text is an id in the form that holds have. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
