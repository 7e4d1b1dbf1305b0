import { isJsonObject, type JsonObject, readArray, readText } from "../../json/read.ts";

/** Keywords whose value is a schema, a list of them, or one for each name. */
const SINGLE = ["items"];
const LISTS = ["anyOf", "oneOf", "allOf"];
const MAPS = ["properties", "$defs", "definitions"];

/**
 * Whether a schema allows objects with members that it does not name, or is made of several that an answer
 * follows at once. Anthropic holds an answer to closed objects only: such a schema would mean another thing there.
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
