import { isTooDeep } from "../../json/depth.ts";
import { isJsonObject, isSet, type JsonObject } from "../../json/read.ts";
import { refuse } from "../../request-body.ts";

// Members of objects inside the body: `path` is where the object stands, to name the member in a refusal.

/** A text that must be there and not empty. */
export function requireText(object: JsonObject, member: string, path: string): string {
  const text = readOptionalText(object, member, path);
  return text || refuse(join(path, member));
}

/** A text, `undefined` when it is left out or null. */
export function readOptionalText(object: JsonObject, member: string, path: string): string | undefined {
  const value = object[member];
  if (!isSet(value)) return undefined;
  return typeof value === "string" ? value : refuse(join(path, member));
}

/** An object that must be there. */
export function requireObject(object: JsonObject, member: string, path: string): JsonObject {
  const value = object[member];
  return isJsonObject(value) ? value : refuse(join(path, member));
}

/** A flag, `undefined` when it is left out or null. */
export function readOptionalFlag(object: JsonObject, member: string, path: string): boolean | undefined {
  const value = object[member];
  if (!isSet(value)) return undefined;
  return typeof value === "boolean" ? value : refuse(join(path, member));
}

/** A JSON schema of bearable depth, `undefined` when it is left out or null. */
export function readOptionalSchema(object: JsonObject, member: string, path: string): JsonObject | undefined {
  if (!isSet(object[member])) return undefined;
  const schema = requireObject(object, member, path);
  return isTooDeep(schema) ? refuse(join(path, member)) : schema;
}

function join(path: string, member: string): string {
  return path === "" ? member : `${path}.${member}`;
}
