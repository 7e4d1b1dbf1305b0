import type { JsonSchema } from "../../../domain/chat-request.ts";
import { isJsonObject, isSet, type JsonObject } from "../../json/read.ts";

/** Keywords that the strict mode does not know. A member of such a name only costs its owner the mode. */
const UNKNOWN_KEYWORDS = [
  "allOf",
  "contains",
  "dependentRequired",
  "dependentSchemas",
  "if",
  "not",
  "oneOf",
  "patternProperties",
  "prefixItems",
  "propertyNames",
  "unevaluatedProperties",
];

/**
 * Whether OpenAI's strict mode takes a schema: every object names all its members as required and allows no
 * others. It refuses a request with any other, so that for those the mode is better left off.
 */
export function isStrictSchema(schema: JsonSchema): boolean {
  if (schema.type !== "object") return false;
  const waiting: unknown[] = [schema];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (isJsonObject(value) && !isClosed(value)) return false;
    const children: readonly unknown[] = Array.isArray(value)
      ? value
      : isJsonObject(value)
        ? Object.values(value)
        : [];
    for (const child of children) if (typeof child === "object") waiting.push(child);
  }
  return true;
}

function isClosed(schema: JsonObject): boolean {
  if (UNKNOWN_KEYWORDS.some((keyword) => keyword in schema)) return false;
  const { type, properties, required, additionalProperties } = schema;
  if (type !== "object" && !(Array.isArray(type) && type.includes("object"))) return true;
  if (additionalProperties !== false) return false;
  const names = new Set(Array.isArray(required) ? required : []);
  return (
    !isSet(properties) ||
    (isJsonObject(properties) && Object.keys(properties).every((name) => names.has(name)))
  );
}
