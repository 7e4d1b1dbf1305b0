import { isJsonObject, isSet, type JsonObject } from "../json/read.ts";
import { reject } from "../request-body.ts";

/** The items of an input, none for a text. Throws `wrong_shape`; what an item's type is called is not ours to judge. */
export function requireItems({ input }: JsonObject): readonly JsonObject[] {
  if (typeof input === "string") return [];
  if (!Array.isArray(input) || input.length === 0) reject("input");
  return input.map((item: unknown, position) => requireItem(item, `input[${position}]`));
}

/** Whether an item is a message: its type may be left out. */
export function isMessage({ type, role }: JsonObject): boolean {
  return type === "message" || (!isSet(type) && isSet(role));
}

/** Whether an item stands for another that its client believes to be stored; its type may be left out too. */
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
