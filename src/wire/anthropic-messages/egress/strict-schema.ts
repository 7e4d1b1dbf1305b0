import type { JsonSchema } from "../../../domain/chat-request.ts";
import { isJsonObject, type JsonObject, readArray, readText } from "../../json/read.ts";

const FORMATS: readonly unknown[] = [
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "uri",
  "ipv4",
  "ipv6",
  "uuid",
];
const PLAIN_MEMBERS = ["title", "description", "required"];
/** Members that say nothing of an answer, or that are said anew. */
const DROPPED = ["$schema", "$id", "strict", "type", "additionalProperties"];
/** A reference stands for all else, but for what it may refer to. */
const BESIDE_REFERENCE = ["$ref", "$defs", "definitions"];

/**
 * A schema in the words that Anthropic holds an answer to: every object is closed, and rules that it does
 * not know are told the model in the description. What is no schema is one that takes anything.
 */
export function acceptSchema(schema: unknown): JsonSchema {
  if (!isJsonObject(schema)) return {};
  const type = typeOf(schema);
  const kept: Record<string, unknown> = isTyped(schema) || type === undefined ? {} : { type };
  const told: string[] = [];
  for (const [key, value] of membersOf(schema)) {
    const said = acceptMember(key, value);
    if (said) Object.assign(kept, said);
    else told.push(`${key}: ${JSON.stringify(value)}`);
  }
  if (told.length > 0) kept.description = describe(readText(schema.description), told);
  const isObject = type === "object" || readArray(type).includes("object");
  return isObject ? { properties: {}, ...kept, additionalProperties: false } : kept;
}

function membersOf(schema: JsonObject): readonly (readonly [string, unknown])[] {
  const isReference = typeof schema.$ref === "string";
  return Object.entries(schema).filter(([key]) =>
    isReference ? BESIDE_REFERENCE.includes(key) : !DROPPED.includes(key),
  );
}

/** Some leave out the type of what is plainly an object or a list; a reference has none. */
function typeOf({ type, $ref: reference, properties, items }: JsonObject): unknown {
  if (reference !== undefined) return undefined;
  if (type !== undefined) return type;
  if (properties !== undefined) return "object";
  return items === undefined ? undefined : "array";
}

/** Whether literals or choices are type enough. */
function isTyped(schema: JsonObject): boolean {
  const { enum: values, const: value, anyOf, oneOf, allOf } = schema;
  return areLiterals(values) || isLiteral(value) || [anyOf, oneOf, allOf].some(Array.isArray);
}

/** What stands for a member, `undefined` for a rule that can only be told. */
function acceptMember(key: string, value: unknown): JsonObject | undefined {
  switch (key) {
    case "$defs":
    case "definitions":
    case "properties":
      return isJsonObject(value) ? { [key]: acceptEach(value) } : undefined;
    case "items":
      return isJsonObject(value) ? { items: acceptSchema(value) } : undefined;
    case "anyOf":
    case "allOf":
    case "oneOf":
      if (!Array.isArray(value)) return undefined;
      return { [key === "oneOf" ? "anyOf" : key]: value.map(acceptSchema) };
    default:
      return isKnown(key, value) ? { [key]: value } : undefined;
  }
}

function isKnown(key: string, value: unknown): boolean {
  if (key === "enum") return areLiterals(value);
  if (key === "const") return isLiteral(value);
  if (key === "$ref") return typeof value === "string";
  if (key === "format") return FORMATS.includes(value);
  if (key === "minItems") return value === 0 || value === 1;
  return PLAIN_MEMBERS.includes(key);
}

function areLiterals(values: unknown): boolean {
  return Array.isArray(values) && values.length > 0 && values.every(isLiteral);
}

function isLiteral(value: unknown): boolean {
  return value === null || (value !== undefined && typeof value !== "object");
}

function acceptEach(schemas: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, acceptSchema(schema)]));
}

function describe(description: string, told: readonly string[]): string {
  return `${description}${description && "\n\n"}{${told.join(", ")}}`;
}
