import type { JsonSchema } from "../domain/chat-request.ts";
import { isJsonObject, type JsonObject, readArray, readText } from "./json/read.ts";

/** What OpenAI refuses at the top of a tool's schema, and Anthropic in part. */
const REFUSED = ["anyOf", "oneOf", "allOf", "enum", "not"];
/** Characters of members that are compared: far more than any tool's schema has. */
const COMPARED_CHARS_MAX = 4 * 1024 * 1024;
/** A chain of references longer than this is a circle. */
const HOPS_MAX = 16;

/** A tool's schema that is an object, without choices at its top. */
interface LiftedSchema {
  readonly schema: JsonSchema;
  /** The choices, which can only be told; `undefined` for none. */
  readonly told: JsonObject | undefined;
}

/**
 * Takes the choices away from the top of a tool's schema, where no provider takes them. What any of them names
 * may be said, and what all of them together ask for has to be. References within the schema are followed.
 */
export function hoistUnions(schema: JsonSchema): LiftedSchema {
  const root = openRoot(schema);
  const choices = Object.entries(root).filter(([key]) => REFUSED.includes(key));
  if (choices.length === 0) return { schema: { ...root, type: "object" }, told: undefined };
  // Names that are allowed by none but a choice would be refused by the rule for all others.
  const { anyOf, oneOf, allOf, enum: _, not, additionalProperties, ...rest } = root;
  return { schema: { ...rest, type: "object", ...joinChoices(root) }, told: Object.fromEntries(choices) };
}

/** The description of a tool that tells its choices too. */
export function describeUnions(description: string | undefined, told: JsonObject | undefined) {
  if (told === undefined) return description;
  const rule = `Its input also follows this JSON schema: ${JSON.stringify(told)}`;
  return description === undefined ? rule : `${description}\n\n${rule}`;
}

/** A schema that is nothing but a reference, as the object that it refers to. */
function openRoot(schema: JsonSchema): JsonSchema {
  const { $ref: reference, ...rest } = schema;
  const target = reference === undefined ? schema : follow(schema, schema);
  return target === schema ? schema : { ...target, ...rest };
}

/** The members of an object and of all its choices, each of which is looked at once. */
function joinChoices(root: JsonSchema) {
  const members = createMembers();
  const required = new Set<unknown>();
  const seen = new Set<JsonObject>();
  const waiting: { readonly schema: JsonObject; readonly isSure: boolean }[] = [];
  const add = (schema: unknown, isSure: boolean): void => {
    const target = isJsonObject(schema) ? follow(root, schema) : undefined;
    if (!target || seen.has(target)) return;
    seen.add(target);
    waiting.push({ schema: target, isSure });
  };
  add(root, true);
  for (const { schema, isSure } of waiting) {
    members.add(schema.properties);
    if (isSure) for (const name of readArray(schema.required)) required.add(name);
    for (const each of readArray(schema.allOf)) add(each, isSure);
    for (const each of [schema.anyOf, schema.oneOf].flatMap(readArray)) add(each, false);
  }
  return { properties: members.join(), required: [...required] };
}

/** Gathers members by name; one that is described in several ways is any of those. */
function createMembers() {
  const ways = new Map<string, Map<string, unknown>>();
  let compared = 0;
  return {
    add(properties: unknown): void {
      for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {})) {
        const known = ways.get(name) ?? new Map<string, unknown>();
        ways.set(name, known);
        // Schemas that hold each other could be printed without end: then the first way stands.
        const isOver = compared > COMPARED_CHARS_MAX;
        const printed = isOver ? "" : JSON.stringify(schema);
        compared += printed.length;
        if (!isOver || known.size === 0) known.set(printed, schema);
      }
    },
    join: () => Object.fromEntries([...ways].map(([name, known]) => [name, anyOfThem([...known.values()])])),
  };
}

function anyOfThem(schemas: readonly unknown[]): unknown {
  return schemas.length === 1 ? schemas[0] : { anyOf: schemas };
}

/** What a schema refers to within its root; the schema itself when it refers to nothing there. */
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

/** @see https://www.rfc-editor.org/rfc/rfc6901 */
function find(root: JsonObject, pointer: string): JsonObject | undefined {
  let value: unknown = root;
  for (const token of pointer.slice(2).split("/")) {
    const name = token.replaceAll("~1", "/").replaceAll("~0", "~");
    value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return isJsonObject(value) ? value : undefined;
}
