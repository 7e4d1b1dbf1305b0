import type {
  ChatRequest,
  JsonSchema,
  OutputFormat,
  Tool,
  ToolChoice,
} from "../../../domain/chat-request.ts";
import type { PrintOptions } from "../../format.ts";
import { describeUnions, hoistUnions } from "../../hoist-unions.ts";
import { isJsonObject, type JsonObject, readText } from "../../json/read.ts";
import { describedSchema, describeRules, instructionFor } from "../../strict-schema.ts";
import { printThinking, takesBudget } from "../thinking.ts";
import { printContents } from "./print-contents.ts";

/**
 * Prints the body of a `generateContent` call. The model and the stream flag are in its path. Drops cache
 * marks, the end user and `parallel_tool_calls`, which Gemini does not have.
 *
 * @see https://ai.google.dev/api/generate-content#request-body
 */
export function printRequest(chat: ChatRequest, options: PrintOptions): string {
  const isOlder = takesBudget(options);
  const { system, contents } = printContents(chat.turns, {
    origin: options.origin,
    requiresSignatures: !isOlder,
  });
  // Models before Gemini 3 reject an enforced format beside tools.
  const isInstructed = isOlder && chat.tools.length > 0;
  const instruction = isInstructed && chat.format ? [instructionFor(chat.format)] : [];
  const texts = [...system.map(({ text }) => text), ...instruction].filter((text) => text !== "");
  return JSON.stringify({
    systemInstruction: texts.length > 0 ? { parts: texts.map((text) => ({ text })) } : undefined,
    contents,
    ...printTools(chat),
    generationConfig: {
      maxOutputTokens: options.outputTokensMax,
      ...(options.traits.sampling && printSampling(chat)),
      stopSequences: chat.stopSequences.length > 0 ? chat.stopSequences : undefined,
      ...(!isInstructed && printFormat(chat.format)),
      thinkingConfig: printThinking(chat, options),
    },
    serviceTier: options.tier === "auto" || options.tier === "default" ? undefined : options.tier,
  });
}

function printSampling({ temperature, topP, topK, seed, presencePenalty, frequencyPenalty }: ChatRequest) {
  return {
    temperature,
    topP,
    topK,
    // Gemini's seed has 32 bits.
    seed: seed === undefined ? undefined : seed | 0,
    // Some models reject any penalty, and 0 is the default of all.
    presencePenalty: presencePenalty || undefined,
    frequencyPenalty: frequencyPenalty || undefined,
  };
}

function printTools({ tools, toolChoice }: ChatRequest): object {
  if (tools.length === 0) return {};
  return {
    tools: [{ functionDeclarations: tools.map(printTool) }],
    toolConfig: toolChoice && { functionCallingConfig: printChoice(toolChoice) },
  };
}

function printTool({ name, description, schema }: Tool): object {
  const { schema: object, unions } = hoistUnions(schema);
  const parameters = geminiSchema(object);
  return {
    name,
    // Gemini requires a description.
    description: describeUnions(description, unions) || name,
    parametersJsonSchema: hasParameters(parameters) ? parameters : undefined,
  };
}

/** Gemini rejects an object without properties; a tool without parameters has no schema. */
function hasParameters({ properties, $ref, additionalProperties }: Tool["schema"]): boolean {
  const hasProperties = isJsonObject(properties) && Object.keys(properties).length > 0;
  return hasProperties || $ref !== undefined || isJsonObject(additionalProperties);
}

function printChoice(choice: ToolChoice): object {
  if (choice.kind === "tool") return { mode: "ANY", allowedFunctionNames: [choice.name] };
  return { mode: { auto: "AUTO", none: "NONE", required: "ANY" }[choice.kind] };
}

/** Prints the format that Gemini enforces. */
function printFormat(format: OutputFormat | undefined): object {
  if (format === undefined) return {};
  if (format.kind === "json") return { responseMimeType: "application/json" };
  return { responseMimeType: "application/json", responseJsonSchema: geminiSchema(describedSchema(format)) };
}

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
function geminiSchema(schema: JsonSchema): JsonSchema {
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
  if (described.length > 0) kept.description = describeRules(readText(schema.description), described);
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
