/** One entry of the published list. Members that are not read here are left out. */
export type ListEntry = Readonly<Record<string, unknown>>;

/** Returns a number of an entry, `undefined` where it has none. */
export function numberIn(entry: ListEntry, name: string): number | undefined {
  const value = entry[name];
  return typeof value === "number" ? value : undefined;
}

/** Returns a text of an entry that is not empty. */
export function textIn(entry: ListEntry, name: string): string | undefined {
  const value = entry[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns the largest of the named numbers that an entry has. */
export function largestIn(entry: ListEntry, ...names: readonly string[]): number | undefined {
  const found = names.map((name) => numberIn(entry, name)).filter((value) => value !== undefined);
  return found.length === 0 ? undefined : Math.max(...found);
}
