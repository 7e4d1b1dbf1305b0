/** Maximum length of an address, as in SMTP. */
const LENGTH_MAX = 254;
/** No space, control character, comma, semicolon, angle bracket, quote, colon or backslash on either side. */
const ADDRESS = /^[^\s\p{Cc}\p{Cf}\p{Cs}@,;:<>()[\]"\\]{1,64}@[^\s\p{Cc}\p{Cf}\p{Cs}@,;:<>()[\]"\\]{1,253}$/u;

/**
 * Whether a text is one plain e-mail address. Refuses every form that a mail header or an SMTP command could
 * read as something else: lists, comments, quoted names and line breaks.
 */
export function isMailAddress(text: string): boolean {
  if (text.length > LENGTH_MAX || !ADDRESS.test(text)) return false;
  const domain = text.slice(text.indexOf("@") + 1);
  return domain.split(".").every((label) => label !== "" && !label.startsWith("-") && !label.endsWith("-"));
}

/** A sender as configured: `Tollgate <noreply@example.com>`, or the address alone. */
export interface Sender {
  readonly name: string;
  readonly address: string;
}

/** Parses a sender. Returns `undefined` for any other text. */
export function parseSender(text: string): Sender | undefined {
  const [, name = "", address = text] = /^([^<>"\p{Cc}]{0,100}?)\s*<([^<>]*)>$/u.exec(text) ?? [];
  return isMailAddress(address) ? { name: name.trim(), address } : undefined;
}
