import type { JsonSchema } from "../../../domain/chat-request.ts";
import { isJsonObject, type JsonObject, readText } from "../../json/read.ts";

/** Keywords that Gemini reads, and whose values are no schemas. */
const PLAIN = new Set([
  "$id",
  "$anchor",
  "type",
  "format",
  "title",
  "description",
  "required",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "propertyOrdering",
]);
/** Keywords whose value maps names to schemas. */
const MAPS = new Set(["properties", "$defs", "definitions"]);
/** Keywords whose value is a list of schemas. */
const LISTS = new Set(["anyOf", "oneOf", "prefixItems"]);
/** Keywords that do not constrain an answer. */
const DROPPED = new Set(["$schema", "$comment", "strict", "default", "examples", "example", "deprecated"]);
/** The names under which Gemini reads a keyword. */
const RENAMED = new Map([
  ["definitions", "$defs"],
  ["oneOf", "anyOf"],
]);

/**
 * Rewrites a JSON schema into the subset that Gemini reads. Rules outside of the subset move into the
 * description as text: Gemini would ignore or reject them.
 *
 * @see https://ai.google.dev/api/generate-content#FIELDS.response_json_schema
 */
export function geminiSchema(schema: JsonSchema): JsonSchema {
  if (typeof schema.$ref === "string") return printReference(schema);
  const kept: Record<string, unknown> = {};
  const described: string[] = [];
  for (const [key, value] of Object.entries(schema)) {
    if (DROPPED.has(key)) continue;
    const supported = supportedValue(key, value);
    if (supported === undefined) described.push(`${key}: ${JSON.stringify(value)}`);
    else if (key === "const") kept.enum = supported;
    else kept[RENAMED.get(key) ?? key] = supported;
  }
  if (described.length > 0) kept.description = describe(readText(schema.description), described);
  return kept;
}

/** Beside a reference, Gemini accepts only keywords that begin with "$". */
function printReference({ $ref, $defs, definitions }: JsonSchema): JsonSchema {
  const own = $defs ?? definitions;
  const reference = readText($ref).replace(/^#\/definitions\//, "#/$defs/");
  return { ...(isJsonObject(own) && { $defs: geminiSchemas(own) }), $ref: reference };
}

/** Returns the supported form of a value; `undefined` for a rule that only a description can express. */
function supportedValue(key: string, value: unknown): unknown {
  if (PLAIN.has(key)) return value;
  if (key === "enum") return areLiterals(value) ? value : undefined;
  if (key === "const") return areLiterals([value]) ? [value] : undefined;
  if (MAPS.has(key)) return isJsonObject(value) ? geminiSchemas(value) : undefined;
  if (LISTS.has(key)) return Array.isArray(value) ? value.map(subschema) : undefined;
  if (key === "items" || key === "additionalProperties") {
    return isJsonObject(value) || typeof value === "boolean" ? subschema(value) : undefined;
  }
  return undefined;
}

/** Gemini enumerates texts and numbers only. */
function areLiterals(values: unknown): boolean {
  return (
    Array.isArray(values) && values.every((value) => typeof value === "string" || typeof value === "number")
  );
}

function subschema(schema: unknown): unknown {
  return isJsonObject(schema) ? geminiSchema(schema) : schema;
}

function geminiSchemas(schemas: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, each]) => [name, subschema(each)]));
}

function describe(description: string, rules: readonly string[]): string {
  return `${description}${description && "\n\n"}{${rules.join(", ")}}`;
}
