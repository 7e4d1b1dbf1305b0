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
  /** Default: the least first. */
  readonly order?: ListOrder<string> | undefined;
  /** The `next` of the page before. */
  readonly token: string | undefined;
  readonly size: number;
}

/**
 * Returns the ids of a page of a list by value, then by id. A token is a place in the order, so that an item that moves
 * or is gone meanwhile moves no other one. Throws `wrong_shape` for a token of another order.
 */
export function pageRanked(
  all: readonly Ranked[],
  { order, token, size }: RankedPage,
): { readonly ids: readonly string[]; readonly next: string | null } {
  const sign = order?.isDescending ? -1 : 1;
  const compareItems = (one: Ranked, other: Ranked) =>
    sign * compare(one.value, other.value) || compare(one.id, other.id);
  const sort = order && `${order.isDescending ? "-" : ""}${order.by}`;
  const place = token === undefined ? undefined : readPlace(token, { sort, sample: all[0] });
  const rest = place ? all.filter((each) => compareItems(each, place) > 0) : all;
  const found = rest.toSorted(compareItems).slice(0, size);
  const last = rest.length > size ? found.at(-1) : undefined;
  const next = last ? printPlace(sort, { id: last.id, value: String(last.value) }) : null;
  return { ids: found.map(({ id }) => id), next };
}

/** Reads the place of a token, with a value of the kind that the list has. */
function readPlace(
  token: string,
  { sort, sample }: { readonly sort: string | undefined; readonly sample: Ranked | undefined },
): Ranked {
  const place = parsePlace(token, sort);
  const isNumber = typeof sample?.value === "bigint";
  if (!place || (isNumber && !/^-?\d{1,30}$/.test(place.value)))
    throw new GatewayError("wrong_shape", { path: "page" });
  return isNumber ? { ...place, value: BigInt(place.value) } : place;
}

/** The place of a row in an order: the text of its value, and its id. */
export interface Place {
  readonly value: string;
  readonly id: string;
}

/** Prints a place as the token of a page. */
export function printPlace(sort: string | undefined, { value, id }: Place): string {
  return Buffer.from(JSON.stringify([sort ?? "", value, id])).toString("base64url");
}

/** Returns the place of a token; `undefined` for one of another order, or of none. */
export function parsePlace(token: string, sort: string | undefined): Place | undefined {
  try {
    const [named, value, id]: unknown[] = JSON.parse(Buffer.from(token, "base64url").toString());
    const isPlace = named === (sort ?? "") && typeof value === "string" && typeof id === "string";
    return isPlace ? { value, id } : undefined;
  } catch {
    return undefined;
  }
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
