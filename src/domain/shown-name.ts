/** Longer names are cut: a mail's subject has room for few. */
const SHOWN_MAX = 100;

/**
 * Quotes a name that a customer chose. `undefined` for one that a mail program could show as a link: a
 * stranger would otherwise send links of theirs in our name.
 */
export function quoteName(name: unknown): string | undefined {
  if (typeof name !== "string" || name.trim() === "" || name.length > SHOWN_MAX) return undefined;
  if (/[\p{Cc}\p{Cf}]|:\/\/|[\p{L}\d][.。]\p{L}|@/u.test(name)) return undefined;
  return `“${name.trim()}”`;
}

/** Quotes any name. What could be shown as a link is broken up, "alice[at]example[.]com", and a long name is cut. */
export function showName(name: string): string {
  const plain = name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ").trim();
  const shown = plain.length > SHOWN_MAX ? `${plain.slice(0, SHOWN_MAX - 1)}…` : plain;
  const quoted = quoteName(shown);
  if (quoted !== undefined) return quoted;
  const broken = shown
    .replaceAll("@", "[at]")
    .replaceAll("://", "[:]//")
    .replace(/[.。](?=\p{L})/gu, "[.]");
  return `“${broken}”`;
}

/** Names an end user in the text of a notice, at its beginning. Forgetting the end user replaces it there. */
export function describeEndUser(name: string): string {
  return `End user ${showName(name)}`;
}
