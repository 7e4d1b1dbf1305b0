import { GatewayError } from "../errors.ts";

/** What a list is ordered by. */
export interface Ranked {
  readonly id: string;
  readonly value: bigint | string;
}

/** An order of a list: a name of a column, with "-" before it for the largest first. */
export interface ListOrder<By extends string> {
  readonly by: By;
  readonly isDescending: boolean;
}

interface RankedPage {
  readonly isDescending: boolean;
  /** The id of the last item of the page before. */
  readonly token: string | undefined;
  readonly size: number;
}

/** Returns the ids of a page of a list by value, then by id. Throws `wrong_shape` for a token that is no item. */
export function pageRanked(
  all: readonly Ranked[],
  { isDescending, token, size }: RankedPage,
): { readonly ids: readonly string[]; readonly next: string | null } {
  const sign = isDescending ? -1 : 1;
  const ids = all
    .toSorted((one, other) => sign * compare(one.value, other.value) || compare(one.id, other.id))
    .map(({ id }) => id);
  const place = token === undefined ? 0 : ids.indexOf(token) + 1;
  if (token !== undefined && place === 0) throw new GatewayError("wrong_shape", { path: "page" });
  const found = ids.slice(place, place + size);
  return { ids: found, next: place + size < ids.length ? (found.at(-1) ?? null) : null };
}

/** Returns items in the order of ids; ids without an item are left out. */
export function inOrder<Item extends { readonly id: string }>(
  ids: readonly string[],
  items: readonly Item[],
): readonly Item[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Reads "-spent" as an order by one of the names; `undefined` for none. Throws `wrong_shape`. */
export function readListOrder<const By extends string>(
  text: string | undefined,
  names: readonly By[],
): ListOrder<By> | undefined {
  if (text === undefined) return undefined;
  const isDescending = text.startsWith("-");
  const by = names.find((name) => name === (isDescending ? text.slice(1) : text));
  if (by === undefined) throw new GatewayError("wrong_shape", { path: "sort" });
  return { by, isDescending };
}

function compare(one: bigint | string, other: bigint | string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
