import type { JsonSchema, OutputFormat, TextPart } from "../domain/chat-request.ts";
import { isJsonObject, type JsonObject, readArray, readText } from "./json/read.ts";

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
/** Members that do not constrain an answer, or that {@link strictSchema} replaces. */
const DROPPED = ["$schema", "$id", "strict", "type", "additionalProperties"];
/** Members that are kept beside a reference: the reference and the definitions it may point to. */
const BESIDE_REFERENCE = ["$ref", "$defs", "definitions"];

/**
 * Rewrites a schema into the subset that Anthropic enforces. Every object is closed, and unsupported rules
 * move into the description as text. A value that is not an object becomes the schema `{}`, which accepts any
 * value.
 */
export function strictSchema(schema: unknown): JsonSchema {
  if (!isJsonObject(schema)) return {};
  const type = typeOf(schema);
  const kept: Record<string, unknown> = isTyped(schema) || type === undefined ? {} : { type };
  const described: string[] = [];
  for (const [key, value] of membersOf(schema)) {
    const supported = supportedMember(key, value);
    if (supported) Object.assign(kept, supported);
    else described.push(`${key}: ${JSON.stringify(value)}`);
  }
  if (described.length > 0) kept.description = describeRules(readText(schema.description), described);
  const isObject = type === "object" || readArray(type).includes("object");
  return isObject ? { properties: {}, ...kept, additionalProperties: false } : kept;
}

function membersOf(schema: JsonObject): readonly (readonly [string, unknown])[] {
  const isReference = typeof schema.$ref === "string";
  return Object.entries(schema).filter(([key]) =>
    isReference ? BESIDE_REFERENCE.includes(key) : !DROPPED.includes(key),
  );
}

/** Infers a missing type from `properties` or `items`. A reference has no type. */
function typeOf({ type, $ref: reference, properties, items }: JsonObject): unknown {
  if (reference !== undefined) return undefined;
  if (type !== undefined) return type;
  if (properties !== undefined) return "object";
  return items === undefined ? undefined : "array";
}

/** Whether literals or alternatives already determine the type. */
function isTyped(schema: JsonObject): boolean {
  const { enum: values, const: value, anyOf, oneOf, allOf } = schema;
  return areLiterals(values) || isLiteral(value) || [anyOf, oneOf, allOf].some(Array.isArray);
}

/** Returns the supported form of a member, or `undefined` for a rule that only a description can express. */
function supportedMember(key: string, value: unknown): JsonObject | undefined {
  switch (key) {
    case "$defs":
    case "definitions":
    case "properties":
      return isJsonObject(value) ? { [key]: strictEach(value) } : undefined;
    case "items":
      return isJsonObject(value) ? { items: strictSchema(value) } : undefined;
    case "anyOf":
    case "allOf":
    case "oneOf":
      if (!Array.isArray(value)) return undefined;
      return { [key === "oneOf" ? "anyOf" : key]: value.map(strictSchema) };
    default:
      return isSupported(key, value) ? { [key]: value } : undefined;
  }
}

function isSupported(key: string, value: unknown): boolean {
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

function strictEach(schemas: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, strictSchema(schema)]));
}

/** Prints the rules of a schema that a host does not enforce behind the description of the schema. */
export function describeRules(description: string, rules: readonly string[]): string {
  return `${description}${description && "\n\n"}{${rules.join(", ")}}`;
}

/** Keywords whose value is one schema. */
const SINGLE = ["items"];
/** Keywords whose value is a list of schemas. */
const LISTS = ["anyOf", "oneOf", "allOf"];
/** Keywords whose value maps names to schemas. */
const MAPS = ["properties", "$defs", "definitions"];

/**
 * Whether a schema accepts objects with members that it does not name, or combines several schemas with
 * `allOf`. Closing such a schema with {@link strictSchema} would change its meaning.
 */
export function isOpenSchema(schema: unknown): boolean {
  const waiting: unknown[] = [schema];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (!isJsonObject(value)) continue;
    if (isOpen(value)) return true;
    for (const child of childrenOf(value)) waiting.push(child);
  }
  return false;
}

function isOpen({ type, properties, additionalProperties: others, patternProperties, allOf }: JsonObject) {
  if (others === true || isJsonObject(others) || isJsonObject(patternProperties)) return true;
  if (readArray(allOf).length > 1) return true;
  const isObject = readText(type) === "object" || readArray(type).includes("object");
  return isObject && others !== false && !(isJsonObject(properties) && hasMembers(properties));
}

function childrenOf(schema: JsonObject): readonly unknown[] {
  return [
    ...SINGLE.map((key) => schema[key]),
    ...LISTS.flatMap((key) => readArray(schema[key])),
    ...MAPS.map((key) => schema[key]).flatMap((map) => (isJsonObject(map) ? Object.values(map) : [])),
  ];
}

function hasMembers(object: JsonObject): boolean {
  for (const _ in object) return true;
  return false;
}

/** The format of an answer for hosts of Anthropic's schema rules: a schema that the host enforces, or an instruction. */
interface PrintedFormat {
  readonly schema: JsonSchema | undefined;
  readonly instruction: TextPart | undefined;
}

/** Returns the schema of a format, with its description. */
export function describedSchema({ schema, description }: Extract<OutputFormat, { kind: "schema" }>) {
  return description === undefined ? schema : { description, ...schema };
}

const JSON_ONLY = "Answer with a single JSON object and nothing else: no other text and no code fence.";

/** Prints a format as an instruction of the system prompt. */
export function instructionFor(format: OutputFormat): string {
  if (format.kind === "json") return JSON_ONLY;
  return `${JSON_ONLY} It follows this JSON schema:\n\n${JSON.stringify(describedSchema(format))}`;
}

/**
 * Prints the format of an answer. A schema becomes an instruction when the host could enforce it only with
 * another meaning, or when it enforces none.
 */
export function printFormat(format: OutputFormat | undefined, enforcesSchemas = true): PrintedFormat {
  if (format === undefined) return { schema: undefined, instruction: undefined };
  if (format.kind === "schema" && enforcesSchemas && !isOpenSchema(format.schema))
    return { schema: strictSchema(describedSchema(format)), instruction: undefined };
  return { schema: undefined, instruction: { kind: "text", text: instructionFor(format), cache: undefined } };
}
