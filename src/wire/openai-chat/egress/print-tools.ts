import type { ChatRequest, JsonSchema, Tool, ToolChoice } from "../../../domain/chat-request.ts";
import { describeUnions, hoistUnions } from "../../hoist-unions.ts";
import { isJsonObject, isSet, type JsonObject } from "../../json/read.ts";
import { printCacheMark } from "../../request-fields.ts";

/** Prints the tools and the tool choice. Hosts reject a choice without tools. */
export function printTools(
  { tools, toolChoice, parallelToolCalls }: ChatRequest,
  keepsCacheMarks: boolean,
): object {
  if (tools.length === 0) return {};
  return {
    tools: tools.map((tool) => ({ ...printTool(tool), ...(keepsCacheMarks && printCacheMark(tool.cache)) })),
    tool_choice: toolChoice && printChoice(toolChoice),
    parallel_tool_calls: parallelToolCalls,
  };
}

function printTool({ name, description, schema, strict }: Tool): object {
  const { schema: object, unions } = hoistUnions(schema);
  const parameters = isBareObject(object) ? { ...object, properties: {} } : object;
  return {
    type: "function",
    function: {
      name,
      description: describeUnions(description, unions),
      parameters,
      strict: strict && unions === undefined && isStrictSchema(schema),
    },
  };
}

/** Returns whether a schema is an object without `properties`, which hosts require. */
function isBareObject({ type, properties }: JsonSchema): boolean {
  return type === "object" && !isSet(properties);
}

function printChoice(choice: ToolChoice): unknown {
  return choice.kind === "tool" ? { type: "function", function: { name: choice.name } } : choice.kind;
}

/** Keywords that strict mode rejects. A property of such a name disables strict mode as well. */
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
 * Returns whether OpenAI's strict mode accepts a schema: every object requires all its properties and allows
 * no others. OpenAI rejects a request whose strict schema differs, so strict mode is disabled for any other
 * schema.
 *
 * @see https://platform.openai.com/docs/guides/structured-outputs
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
