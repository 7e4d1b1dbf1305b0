import { readScopeFilter, SCOPE_FILTER_CHARACTERS_MAX } from "../domain/scope.ts";
import { type RangeSearch, readRangeSearch } from "./ranges.ts";

/** Filters of a page in the URL: texts by their names. */
export type Filters<Name extends string> = { readonly [name in Name]?: string };

/** Reads the range and the named filters of a URL. */
export function rangeAnd<const Name extends string>(...names: readonly Name[]) {
  const readNamed = filters(...names);
  return (search: Record<string, unknown>): RangeSearch & Filters<Name> => ({
    ...LEFT_OUT,
    ...readRangeSearch(search),
    ...readNamed(search),
  });
}

/** The router keeps a text of the URL unless its reader names it. */
const LEFT_OUT: object = { range: undefined, from: undefined, to: undefined };

/** Reads the named filters of a URL. What the API would refuse by its shape is left out. */
export function filters<const Name extends string>(...names: readonly Name[]) {
  return (search: Record<string, unknown>): Filters<Name> => {
    const found = names
      .filter((name) => search[name] !== undefined)
      .map((name) => [name, isWhole(name, search[name]) ? search[name] : undefined]);
    // Safe because every name is one of the filter's.
    return Object.fromEntries(found) as Filters<Name>;
  };
}

/** The most characters of filters that may be longer than others. */
const LENGTHS: Readonly<Record<string, number>> = {
  page: 4_000,
  next: 2_048,
  q: 254,
  action: 100,
  scope: SCOPE_FILTER_CHARACTERS_MAX,
  metadata: 512,
};
const LENGTH_MAX = 256;

/** Whether a text can be a filter. An old or mistyped link may have any text in its place. */
function isWhole(name: string, text: unknown): boolean {
  if (typeof text !== "string" || text === "" || text.includes("\0")) return false;
  if (text.length > (LENGTHS[name] ?? LENGTH_MAX)) return false;
  if (name === "scope") return readScopeFilter(text) !== undefined;
  return name !== "metadata" || text.indexOf(":") > 0;
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
