import { isTooDeep } from "../../json/bounds.ts";
import { isJsonObject, isSet, type JsonObject } from "../../json/read.ts";
import { reject } from "../../request-body.ts";

// Readers of members of nested objects. `path` is the path of the object. Each reader throws `wrong_shape` with
// the path of the member.

/** Returns a string that must be present and not empty. */
export function requireText(object: JsonObject, member: string, path: string): string {
  const text = readOptionalText(object, member, path);
  return text || reject(join(path, member));
}

/** Returns a string; `undefined` when omitted or null. */
export function readOptionalText(object: JsonObject, member: string, path: string): string | undefined {
  const value = object[member];
  if (!isSet(value)) return undefined;
  return typeof value === "string" ? value : reject(join(path, member));
}

/** Returns an object that must be present. */
export function requireObject(object: JsonObject, member: string, path: string): JsonObject {
  const value = object[member];
  return isJsonObject(value) ? value : reject(join(path, member));
}

/** Returns a boolean; `undefined` when omitted or null. */
export function readOptionalFlag(object: JsonObject, member: string, path: string): boolean | undefined {
  const value = object[member];
  if (!isSet(value)) return undefined;
  return typeof value === "boolean" ? value : reject(join(path, member));
}

/** Returns a JSON schema of at most 500 levels; `undefined` when omitted or null. */
export function readOptionalSchema(object: JsonObject, member: string, path: string): JsonObject | undefined {
  if (!isSet(object[member])) return undefined;
  const schema = requireObject(object, member, path);
  return isTooDeep(schema) ? reject(join(path, member)) : schema;
}

function join(path: string, member: string): string {
  return path === "" ? member : `${path}.${member}`;
}
