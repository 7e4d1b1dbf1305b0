import { isTooDeep } from "../json/bounds.ts";
import { isJsonObject, isSet, type JsonObject, readArray } from "../json/read.ts";

/** More than this is not repeated: three times in a stream, it would be more than the answer. */
const CHARS_MAX = 1024 * 1024;

/**
 * What a response repeats of its request, as members of JSON without braces: every one that there must be, with
 * what holds where the client said nothing or no sense.
 */
export function printRepeated(body: JsonObject): string {
  const members = membersOf(body);
  const text = isTooDeep(members) ? undefined : print(members);
  return text !== undefined && text.length <= CHARS_MAX ? text : print(membersOf({}));
}

function print(members: object): string {
  return JSON.stringify(members).slice(1, -1);
}

function membersOf(body: JsonObject): object {
  const { tool_choice: toolChoice } = body;
  const { effort = null, summary = null } = isJsonObject(body.reasoning) ? body.reasoning : {};
  return {
    background: false,
    frequency_penalty: numberOf(body.frequency_penalty) ?? 0,
    instructions: textOf(body.instructions),
    max_output_tokens: numberOf(body.max_output_tokens),
    max_tool_calls: numberOf(body.max_tool_calls),
    metadata: isJsonObject(body.metadata) ? body.metadata : {},
    parallel_tool_calls: body.parallel_tool_calls !== false,
    presence_penalty: numberOf(body.presence_penalty) ?? 0,
    previous_response_id: null,
    prompt_cache_key: textOf(body.prompt_cache_key),
    reasoning: { effort, summary },
    safety_identifier: textOf(body.safety_identifier),
    service_tier: "default",
    store: false,
    temperature: numberOf(body.temperature) ?? 1,
    text: completeText(body.text),
    tool_choice: isJsonObject(toolChoice) ? toolChoice : (textOf(toolChoice) ?? "auto"),
    tools: readArray(body.tools).map(completeTool),
    top_logprobs: 0,
    top_p: numberOf(body.top_p) ?? 1,
    truncation: textOf(body.truncation) ?? "disabled",
    user: textOf(body.user),
  };
}

function completeText(text: unknown): object {
  const { format, ...more } = isJsonObject(text) ? text : {};
  return { format: isJsonObject(format) ? completeFormat(format) : { type: "text" }, ...more };
}

function completeFormat(format: JsonObject): JsonObject {
  return format.type === "json_schema"
    ? { description: null, strict: false, ...withoutNull(format) }
    : format;
}

function completeTool(tool: unknown): unknown {
  if (!isJsonObject(tool) || tool.type !== "function") return tool;
  return { description: null, parameters: null, strict: null, ...tool };
}

function withoutNull(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => isSet(value)));
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
