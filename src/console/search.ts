import { type RangeSearch, readRangeSearch } from "./ranges.ts";

/** Filters of a page in the URL: texts by their names. */
export type Filters<Name extends string> = { readonly [name in Name]?: string };

/** Reads the range and the named filters of a URL; other members are left out. */
export function rangeAnd<const Name extends string>(...names: readonly Name[]) {
  const readNamed = filters(...names);
  return (search: Record<string, unknown>): RangeSearch & Filters<Name> => ({
    ...readRangeSearch(search),
    ...readNamed(search),
  });
}

/** Reads the named filters of a URL. */
export function filters<const Name extends string>(...names: readonly Name[]) {
  return (search: Record<string, unknown>): Filters<Name> => {
    const found = names.flatMap((name) => {
      const value = search[name];
      return typeof value === "string" && value !== "" ? [[name, value] as const] : [];
    });
    // Safe because every name is one of the filter's.
    return Object.fromEntries(found) as Filters<Name>;
  };
}

/** The order that a URL names, as a member of a query; none where no column of the server's order has its name. */
export function orderIn(sort: string | undefined, columns: readonly string[]): { readonly sort?: string } {
  return sort !== undefined && columns.includes(sort.replace(/^-/, "")) ? { sort } : {};
}

/** Reads a URL's search as plain texts; a repeated name keeps its last value. */
export function parseSearch(text: string): Record<string, unknown> {
  return Object.fromEntries(new URLSearchParams(text));
}

/** Prints texts as a URL's search, with its question mark. */
export function printSearch(search: Record<string, unknown>): string {
  const entries = Object.entries(search).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  const text = new URLSearchParams(entries).toString();
  return text === "" ? "" : `?${text}`;
}

/** Returns the search of a link to the same page, with some members set; `undefined` removes one. */
export function withSearch(changes: Readonly<Record<string, string | undefined>>) {
  // Safe because each page drops the members of a URL that it does not know.
  return (all: object) => ({ ...all, ...changes }) as never;
}
