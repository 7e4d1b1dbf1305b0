import { type TSchema, t } from "elysia";
import { type Nanos, parseUsd } from "../../domain/money.ts";
import { SCOPE_FILTER_CHARACTERS_MAX } from "../../domain/scope.ts";
import { GatewayError } from "../../errors.ts";

/** An amount of money: "12.5" or "0.000000001". */
export const usd = t.String({ description: "USD with up to 9 decimals" });

export const time = t.String({ format: "date-time", description: "ISO 8601, UTC" });

export const id = t.String({ minLength: 1, maxLength: 128 });

/** What requests must count for, all of it. */
export const scopeFilter = t.String({
  maxLength: SCOPE_FILTER_CHARACTERS_MAX,
  description:
    "kind:id of what requests count for, such as project:ID; up to 8, with line feeds (%0A) between",
});

/** An answer without content. */
export const nothing = t.Object({});

/** One of these words. */
export function oneOf<const Words extends readonly string[]>(
  words: Words,
  options?: { readonly description: string },
) {
  const literals = words.map((word) => t.Literal(word));
  return t.Unsafe<Words[number]>(t.Union(literals, options));
}

export const roleName = oneOf(["owner", "developer", "viewer"]);

/** A whole list. */
export function listOf<Item extends TSchema>(item: Item) {
  return t.Object({ items: t.Array(item) });
}

/** One page of a list. `next` is the token of the next page, null on the last one. */
export function pageOf<Item extends TSchema>(item: Item) {
  return t.Object({ items: t.Array(item), next: t.Nullable(t.String()) });
}

/** The query of a list: the token of a page, and how many items it may have. */
export const pageQuery = t.Object({
  page: t.Optional(t.String({ maxLength: 1_000 })),
  size: t.Optional(t.Integer({ minimum: 1, maximum: 200 })),
});

/** The order of a list: one of the names, with "-" before it for the largest first. */
export function sortOf(...names: readonly string[]) {
  const orders = names.map((name) => `${name}, -${name}`).join(", ");
  return t.Optional(t.String({ maxLength: 32, description: `Order: ${orders}` }));
}

/** The query of a list that is searched and ordered. */
export function listQuery(...orders: readonly string[]) {
  return t.Composite([
    pageQuery,
    t.Object({ q: t.Optional(t.String({ maxLength: 254 })), sort: sortOf(...orders) }),
  ]);
}

/** The envelope of every error. `code` is one of the error contract. */
const errorEnvelope = t.Object({
  error: t.Object({ message: t.String(), type: t.String(), code: t.String() }),
});

/** The answer to an edit of an older version: the error, and the item as it is now. */
export function conflictWith<Item extends TSchema>(item: Item) {
  return t.Object({ ...errorEnvelope.properties, current: item });
}

/** Reads the `amount_usd` of a body: USD above 0. Throws `wrong_shape`. */
export function readAmount(text: string): Nanos {
  try {
    const amount = parseUsd(text);
    if (amount > 0n) return amount;
  } catch {
    // Answered like an amount of 0.
  }
  throw new GatewayError("wrong_shape", { path: "amount_usd" });
}
