import { isTooDeep } from "../../json/bounds.ts";
import { isJsonObject, isSet, type JsonObject, readArray } from "../../json/read.ts";
import type { EchoedFields, EchoedTool } from "../../model-request.ts";
import { readServiceTier } from "../../tiers.ts";
import { asksForCompaction, requireItems } from "../items.ts";
import { type OfferedTool, readOfferedTools } from "./read-tools.ts";

/** Value of `include` with which a client asks for reasoning that it can send back. */
const ENCRYPTED_REASONING = "reasoning.encrypted_content";
/** Characters of echoed fields. A stream echoes them three times, so more would exceed most answers. */
const ECHOED_CHARS_MAX = 1024 * 1024;

/**
 * Reads what a response depends on: the fields that it echoes, the client's tool names, and the wish for
 * encrypted reasoning. The body must have been checked.
 */
export function readEchoedFields(body: JsonObject): EchoedFields {
  const items = requireItems(body);
  const offered = new Map(readOfferedTools(body, items).map((each) => [each.tool.name, each]));
  const special = [...offered.values()].filter(isSpecial);
  return {
    members: printEchoedFields(body),
    tools: new Map(special.map(toolEntry)),
    includesEncryptedReasoning: readArray(body.include).includes(ENCRYPTED_REASONING),
    isCompaction: asksForCompaction(items),
  };
}

/** The facts of an unknown request: every echoed field has its default. */
export const NOTHING_ECHOED: EchoedFields = {
  members: printEchoedFields({}),
  tools: new Map(),
  includesEncryptedReasoning: false,
  isCompaction: false,
};

function toolEntry({ name, namespace, tool }: OfferedTool): [string, EchoedTool] {
  return [tool.name, { name, namespace, isFreeForm: tool.isFreeForm }];
}

/** Whether the client expects another kind of call than a function call under the tool's joined name. */
function isSpecial({ namespace, tool }: OfferedTool): boolean {
  return namespace !== undefined || tool.isFreeForm;
}

/**
 * Prints the fields of a request that its response echoes, as JSON members without braces. A missing or
 * malformed field gets its default. Over 1,048,576 characters, or when nested too deeply, all fields get
 * their defaults.
 *
 * @see https://platform.openai.com/docs/api-reference/responses
 */
function printEchoedFields(body: JsonObject): string {
  const fields = echoedMembers(body);
  const text = isTooDeep(fields) ? undefined : printMembers(fields);
  return text !== undefined && text.length <= ECHOED_CHARS_MAX ? text : printMembers(echoedMembers({}));
}

function printMembers(members: object): string {
  return JSON.stringify(members).slice(1, -1);
}

function echoedMembers(body: JsonObject): object {
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
    // The answer is begun before the upstream says which tier serves it.
    service_tier: readServiceTier(body) ? null : "default",
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
  const { format, ...others } = isJsonObject(text) ? text : {};
  return { format: isJsonObject(format) ? completeFormat(format) : { type: "text" }, ...others };
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
