import type { CST, YAMLParseError } from "yaml";

/**
 * Returns the offset from which a document cannot be read, `undefined` without errors. Where the error is the
 * missing end of a list, a mapping or a text, that is its beginning, because the parser reports the place
 * where it gave up.
 */
export function findBrokenOffset(
  errors: readonly YAMLParseError[],
  tokens: readonly CST.Token[],
): number | undefined {
  if (errors.length === 0) return undefined;
  const places = tokens.flatMap((token) => (token.type === "document" ? brokenPlaces(token.value) : []));
  // The parser reports the first line of a key that goes on over several.
  const reported = errors.filter(({ code }) => !code.endsWith("IMPLICIT_KEY")).map(({ pos }) => pos[0]);
  const known = [...places, ...reported];
  const first = known.length > 0 ? known : errors.map(({ pos }) => pos[0]);
  return first.reduce((least, place) => Math.min(least, place));
}

/** The beginnings of what has no end, and the ends of keys that go on over several lines. */
function brokenPlaces(token: CST.Token | null | undefined): number[] {
  if (!token) return [];
  if (token.type === "flow-collection" && !isClosed(token)) return [token.offset];
  if ("items" in token) return token.items.flatMap(placesInItem);
  return isOpenQuote(token) ? [token.offset] : [];
}

function placesInItem({ key, value, start }: CST.CollectionItem): number[] {
  const isExplicit = start.some(({ type }) => type === "explicit-key-ind");
  const isLong = key && !isExplicit && "source" in key && key.source.includes("\n");
  const end = isLong ? [key.offset + key.source.trimEnd().length] : [];
  return [...brokenPlaces(key), ...end, ...brokenPlaces(value)];
}

function isClosed({ end }: CST.FlowCollection): boolean {
  return end.some(({ type }) => type === "flow-map-end" || type === "flow-seq-end");
}

function isOpenQuote(token: CST.Token): boolean {
  if (token.type !== "single-quoted-scalar" && token.type !== "double-quoted-scalar") return false;
  return token.source.length < 2 || !token.source.endsWith(token.source.charAt(0));
}
