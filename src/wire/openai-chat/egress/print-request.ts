import type {
  ChatRequest,
  JsonSchema,
  OutputFormat,
  Part,
  Reasoning,
  Tool,
  ToolChoice,
} from "../../../domain/chat-request.ts";
import { isClaudeModel, type PrintOptions } from "../../format.ts";
import { describeUnions, hoistUnions } from "../../hoist-unions.ts";
import { isJsonObject, isSet, type JsonObject } from "../../json/read.ts";
import { effortOfBudget, printCacheMark, printEndUser } from "../../request-fields.ts";
import { createHostStateDecoder } from "../reasoning.ts";
import { printMessages } from "./print-messages.ts";

const STOPS_MAX = 4;
const DEFAULT_FORMAT_NAME = "answer";

/**
 * Returns the path of the first document that is neither PDF nor text or has only a URL: hosts fetch no
 * files. Also rejects more stop sequences than hosts accept, which only the messages format allows.
 */
export function findUntranslatable({ turns, stopSequences }: ChatRequest): string | undefined {
  if (stopSequences.length > STOPS_MAX) return "stop_sequences";
  for (const { parts } of turns) {
    const path = parts.map(pathOfUnknownFile).find((each) => each !== undefined);
    if (path !== undefined) return path;
  }
  return undefined;
}

function pathOfUnknownFile(part: Part): string | undefined {
  if (part.kind === "tool_result")
    return part.parts.map(pathOfUnknownFile).find((path) => path !== undefined);
  if (part.kind !== "document" || part.source.kind === "text") return undefined;
  const isPdf = part.source.kind === "inline" && part.source.mediaType === "application/pdf";
  return isPdf ? undefined : part.path;
}

/**
 * Prints the body of a chat completion. Drops reasoning that this host did not sign, `top_k`, and cache marks
 * unless the model is Anthropic's.
 *
 * @see https://platform.openai.com/docs/api-reference/chat/create
 */
export function printRequest(chat: ChatRequest, options: PrintOptions): string {
  const { traits, stream, origin } = options;
  const isClaude = isClaudeModel(traits);
  const decode = createHostStateDecoder(origin);
  return JSON.stringify({
    model: options.model,
    messages: printMessages(chat.turns, { keepsCacheMarks: isClaude, decode, isClaude }),
    ...printTools(chat, isClaude),
    response_format: printFormat(chat.format),
    reasoning_effort: traits.reasoning === "none" ? undefined : printEffort(chat.reasoning),
    [limitFieldOf(options)]: options.outputTokensMax,
    ...(traits.sampling && { temperature: chat.temperature, top_p: chat.topP }),
    ...(isClaude && printCacheMark(chat.cache)),
    stop: chat.stopSequences.length > 0 ? chat.stopSequences : undefined,
    user: chat.endUser === undefined ? undefined : printEndUser(chat.endUser),
    service_tier: options.tier,
    stream,
    stream_options: stream ? { include_usage: true } : undefined,
  });
}

function limitFieldOf({ outputLimitField, traits }: PrintOptions): string {
  return outputLimitField ?? (traits.reasoning === "effort" ? "max_completion_tokens" : "max_tokens");
}

/** Prints the reasoning effort; a budget becomes an effort. */
function printEffort({ effort, thinking, budgetTokens }: Reasoning): string | undefined {
  if (effort === "none") return effort;
  if (thinking === "disabled") return undefined;
  if (effort !== undefined) return effort === "max" ? "high" : effort;
  return effortOfBudget(budgetTokens) ?? (thinking && "medium");
}

/** Prints `response_format`, strict unless the client disabled it or strict mode rejects the schema. */
function printFormat(format: OutputFormat | undefined): object | undefined {
  if (format === undefined) return undefined;
  if (format.kind === "json") return { type: "json_object" };
  const { name = DEFAULT_FORMAT_NAME, description, schema, strict = true } = format;
  const json_schema = { name, description, schema, strict: strict && isStrictSchema(schema) };
  return { type: "json_schema", json_schema };
}

/** Prints the tools and the tool choice. Hosts reject a choice without tools. */
function printTools({ tools, toolChoice, parallelToolCalls }: ChatRequest, keepsCacheMarks: boolean): object {
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
function isStrictSchema(schema: JsonSchema): boolean {
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
