import type { JsonSchema } from "../domain/chat-request.ts";
import { isJsonObject, type JsonObject, readArray, readText } from "./json/read.ts";

/** Keywords that OpenAI rejects at the top of a tool's schema; Anthropic rejects some of them. */
const UNIONS = ["anyOf", "oneOf", "allOf", "enum", "not"];
/** Bound of the characters that are compared: far more than any tool's schema has. */
const COMPARED_CHARS_MAX = 4 * 1024 * 1024;
/** A longer chain of references is treated as circular. */
const HOPS_MAX = 16;

/** A tool's schema that is an object without unions at its top. */
interface HoistedSchema {
  readonly schema: JsonSchema;
  /** The removed keywords, for the description of the tool; `undefined` if there were none. */
  readonly unions: JsonObject | undefined;
}

/**
 * Removes unions (`anyOf`, `oneOf`, `allOf`, `enum`, `not`) from the top of a tool's schema, where providers
 * reject them. The result allows every property of any alternative and requires those that all of them
 * require. Follows references within the schema.
 */
export function hoistUnions(schema: JsonSchema): HoistedSchema {
  const root = openRoot(schema);
  const unions = Object.entries(root).filter(([key]) => UNIONS.includes(key));
  if (unions.length === 0) return { schema: { ...root, type: "object" }, unions: undefined };
  // `additionalProperties` of the root would forbid the properties of the alternatives.
  const { anyOf, oneOf, allOf, enum: _, not, additionalProperties, ...rest } = root;
  return {
    schema: { ...rest, type: "object", ...joinAlternatives(root) },
    unions: Object.fromEntries(unions),
  };
}

/** Appends the removed unions to the description of a tool. */
export function describeUnions(description: string | undefined, unions: JsonObject | undefined) {
  if (unions === undefined) return description;
  const rule = `Its input also follows this JSON schema: ${JSON.stringify(unions)}`;
  return description === undefined ? rule : `${description}\n\n${rule}`;
}

/** Resolves the reference at the root of a schema, if it has one. */
function openRoot(schema: JsonSchema): JsonSchema {
  const { $ref: reference, ...rest } = schema;
  const target = reference === undefined ? schema : follow(schema, schema);
  return target === schema ? schema : { ...target, ...rest };
}

/** Joins the properties of an object and of all its alternatives. Visits each schema once. */
function joinAlternatives(root: JsonSchema) {
  const properties = createProperties();
  const required = new Set<unknown>();
  const seen = new Set<JsonObject>();
  const waiting: { readonly schema: JsonObject; readonly isRequired: boolean }[] = [];
  const add = (schema: unknown, isRequired: boolean): void => {
    const target = isJsonObject(schema) ? follow(root, schema) : undefined;
    if (!target || seen.has(target)) return;
    seen.add(target);
    waiting.push({ schema: target, isRequired });
  };
  add(root, true);
  for (const { schema, isRequired } of waiting) {
    properties.add(schema.properties);
    if (isRequired) for (const name of readArray(schema.required)) required.add(name);
    for (const each of readArray(schema.allOf)) add(each, isRequired);
    for (const each of [schema.anyOf, schema.oneOf].flatMap(readArray)) add(each, false);
  }
  return { properties: properties.join(), required: [...required] };
}

/** Collects properties by name; a property with several schemas becomes `anyOf` them. */
function createProperties() {
  const schemas = new Map<string, Map<string, unknown>>();
  let compared = 0;
  return {
    add(properties: unknown): void {
      for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {})) {
        const known = schemas.get(name) ?? new Map<string, unknown>();
        schemas.set(name, known);
        // Schemas that refer to each other could be printed forever: above the bound, the first one is kept.
        const isOver = compared > COMPARED_CHARS_MAX;
        const printed = isOver ? "" : JSON.stringify(schema);
        compared += printed.length;
        if (!isOver || known.size === 0) known.set(printed, schema);
      }
    },
    join: () =>
      Object.fromEntries([...schemas].map(([name, known]) => [name, anyOfSchemas([...known.values()])])),
  };
}

function anyOfSchemas(schemas: readonly unknown[]): unknown {
  return schemas.length === 1 ? schemas[0] : { anyOf: schemas };
}

/** Follows the references of a schema within its root. Returns the schema itself for any other reference. */
function follow(root: JsonObject, schema: JsonObject): JsonObject {
  let target = schema;
  for (let hops = 0; hops < HOPS_MAX; hops += 1) {
    const reference = readText(target.$ref);
    const next = reference.startsWith("#/") ? find(root, reference) : undefined;
    if (next === undefined) return target;
    target = next;
  }
  return schema;
}

/**
 * Resolves a JSON pointer.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6901
 */
function find(root: JsonObject, pointer: string): JsonObject | undefined {
  let value: unknown = root;
  for (const token of pointer.slice(2).split("/")) {
    const name = token.replaceAll("~1", "/").replaceAll("~0", "~");
    value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return isJsonObject(value) ? value : undefined;
}
