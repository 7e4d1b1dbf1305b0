/** Longer texts are compared by their beginnings. */
const LENGTH_MAX = 128;

/**
 * Returns the ids that are most like a text, the best first: by the fewest changed characters of the id, or of
 * what follows its first slash.
 */
export function nearestIds(text: string, ids: readonly string[], count: number): readonly string[] {
  const wanted = text.slice(0, LENGTH_MAX).toLowerCase();
  const distanceTo = (id: string) =>
    Math.min(changesBetween(wanted, id), changesBetween(wanted, id.slice(id.indexOf("/") + 1)) + 1);
  return ids
    .map((id) => ({ id, distance: distanceTo(id) }))
    .sort((one, other) => one.distance - other.distance)
    .slice(0, count)
    .map(({ id }) => id);
}

/** The Levenshtein distance, in one row. */
function changesBetween(one: string, other: string): number {
  const row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let line = 1; line <= one.length; line += 1) {
    let diagonal = row[0] ?? 0;
    row[0] = line;
    for (let column = 1; column <= other.length; column += 1) {
      const above = row[column] ?? 0;
      const isSame = one.charCodeAt(line - 1) === other.charCodeAt(column - 1);
      row[column] = Math.min(above + 1, (row[column - 1] ?? 0) + 1, diagonal + (isSame ? 0 : 1));
      diagonal = above;
    }
  }
  return row[other.length] ?? 0;
}
