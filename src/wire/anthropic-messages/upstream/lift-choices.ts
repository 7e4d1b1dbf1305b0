import type { JsonSchema } from "../../../domain/chat-request.ts";
import { isJsonObject, type JsonObject, readArray } from "../../json-read.ts";

const CHOICES = ["anyOf", "oneOf", "allOf"];

/** A tool's schema that is an object, without choices at its top. */
interface LiftedSchema {
  readonly schema: JsonSchema;
  /** The choices, which can only be told; `undefined` for none. */
  readonly told: JsonObject | undefined;
}

/**
 * Takes the choices away from the top of a tool's schema, where Anthropic refuses them. What any of them names
 * may be said, and what all of them together ask for has to be.
 */
export function liftChoices(schema: JsonSchema): LiftedSchema {
  const choices = Object.entries(schema).filter(([key]) => CHOICES.includes(key));
  if (choices.length === 0) return { schema: { ...schema, type: "object" }, told: undefined };
  // Names that are allowed by none but a choice would be refused by the rule for all others.
  const { anyOf, oneOf, allOf, additionalProperties: _, ...rest } = schema;
  const all = [schema, ...readArray(allOf).filter(isJsonObject)];
  const some = [anyOf, oneOf].flatMap(readArray).filter(isJsonObject);
  const properties = mergeProperties([...all, ...some]);
  const required = [...new Set(all.flatMap((each) => readArray(each.required)))];
  return { schema: { ...rest, type: "object", properties, required }, told: Object.fromEntries(choices) };
}

/** The members of several objects; one that they describe in several ways is any of those. */
function mergeProperties(schemas: readonly JsonObject[]): JsonObject {
  const ways = new Map<string, Map<string, unknown>>();
  for (const { properties } of schemas) {
    for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {})) {
      const known = ways.get(name) ?? new Map<string, unknown>();
      ways.set(name, known.set(JSON.stringify(schema), schema));
    }
  }
  return Object.fromEntries([...ways].map(([name, known]) => [name, anyOfThem([...known.values()])]));
}

function anyOfThem(schemas: readonly unknown[]): unknown {
  return schemas.length === 1 ? schemas[0] : { anyOf: schemas };
}
