import { isJsonObject, isSet, type JsonObject } from "../json/read.ts";
import { reject } from "../request-body.ts";

/**
 * Returns the items of an input; a text has none. Throws `wrong_shape`. Unknown item types are left to the
 * upstream.
 */
export function requireItems({ input }: JsonObject): readonly JsonObject[] {
  if (typeof input === "string") return [];
  if (!Array.isArray(input) || input.length === 0) reject("input");
  return input.map((item: unknown, position) => requireItem(item, `input[${position}]`));
}

/** Whether an item is a message, whose type is optional. */
export function isMessage({ type, role }: JsonObject): boolean {
  return type === "message" || (!isSet(type) && isSet(role));
}

/** Whether an item refers to one that the provider has stored. Its type is optional too. */
export function isReference({ type, role, id }: JsonObject): boolean {
  return type === "item_reference" || (!isSet(type) && !isSet(role) && isSet(id));
}

function requireItem(item: unknown, path: string): JsonObject {
  if (!isJsonObject(item)) reject(path);
  if (isMessage(item)) {
    if (typeof item.role !== "string") reject(`${path}.role`);
    if (typeof item.content !== "string" && !Array.isArray(item.content)) reject(`${path}.content`);
  } else if (typeof item.type !== "string" && !isReference(item)) reject(`${path}.type`);
  return item;
}
