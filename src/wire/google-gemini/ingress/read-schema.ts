import type { JsonSchema } from "../../../domain/chat-request.ts";
import { isJsonObject, type JsonObject } from "../../json/read.ts";
import { join, readerOf } from "../names.ts";

/** Google's names that JSON schema has too, of those with two spellings. */
const SCHEMA = readerOf([
  "type",
  "format",
  "nullable",
  "enum",
  "items",
  "properties",
  "anyOf",
  "prefixItems",
  "additionalProperties",
  "propertyOrdering",
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "minProperties",
  "maxProperties",
  "example",
]);

/** Members that are counts, which Google writes as text. */
const COUNTS = new Set(["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"]);
/** Members that constrain nothing. */
const DROPPED = new Set(["propertyOrdering", "example", "nullable"]);

/**
 * Rewrites a schema in Google's form of OpenAPI, with types in capitals, into a JSON schema. Must not be called with
 * a schema that is too deep.
 *
 * @see https://ai.google.dev/api/caching#Schema
 */
export function readOpenApiSchema(schema: JsonObject, path: string): JsonSchema {
  const members: JsonObject = SCHEMA.read(schema, path);
  const read: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    const name = key in members ? key : camelCase(key);
    if (DROPPED.has(name) || value === null) continue;
    if (name === "format" && value === "enum") continue;
    read[name] = readValue(name, value, join(path, name));
  }
  return members.nullable === true ? allowNull(read) : read;
}

function camelCase(key: string): string {
  return key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function readValue(name: string, value: unknown, path: string): unknown {
  if (name === "type") return readType(value);
  if (COUNTS.has(name)) return typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  if (name === "properties" && isJsonObject(value)) {
    const entries = Object.entries(value).map(([key, each]) => [key, subschema(each, join(path, key))]);
    return Object.fromEntries(entries);
  }
  if ((name === "anyOf" || name === "prefixItems") && Array.isArray(value))
    return value.map((each, position) => subschema(each, `${path}[${position}]`));
  return name === "items" || name === "additionalProperties" ? subschema(value, path) : value;
}

function readType(type: unknown): unknown {
  if (Array.isArray(type)) return type.map(readType);
  return typeof type === "string" ? type.toLowerCase() : type;
}

function subschema(schema: unknown, path: string): unknown {
  return isJsonObject(schema) ? readOpenApiSchema(schema, path) : schema;
}

function allowNull(schema: JsonObject): JsonSchema {
  const { type } = schema;
  if (type === undefined) return { anyOf: [schema, { type: "null" }] };
  const allowed = Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {};
  return { ...schema, ...allowed, type: [...(Array.isArray(type) ? type : [type]), "null"] };
}
