import type {
  ChatRequest,
  JsonSchema,
  OutputFormat,
  Reasoning,
  Tool,
  ToolChoice,
} from "../../../domain/chat-request.ts";
import { createValueBudget, isTooDeep } from "../../json/bounds.ts";
import { isJsonObject, isSet, type JsonObject, readArray, readText } from "../../json/read.ts";
import {
  readBudget,
  readList,
  readNumber,
  readObject,
  reject,
  rejectUntranslatable,
  requireName,
  SHARES,
} from "../../request-body.ts";
import { isEffort, readCacheMark } from "../../request-fields.ts";
import { isNewThread } from "../stored.ts";
import { readMessages } from "./read-messages.ts";

/** Fields for state that the provider keeps or runs beside the conversation. No other format has them. */
const REMOTE_FIELDS = ["container", "thread", "compaction"];

/**
 * Reads a checked messages body into the neutral request. Throws `untranslatable` with the path of a field
 * that no other format can express. Throws `wrong_shape` for an unreadable field and for more than 100,000
 * JSON values.
 *
 * @see https://docs.anthropic.com/en/api/messages
 */
export function readChatRequest(body: JsonObject): ChatRequest {
  // The body's own values are the whole budget: no string of this format contains JSON.
  createValueBudget(body);
  rejectRemote(body);
  return {
    turns: readMessages(body),
    ...readTools(body),
    reasoning: readReasoning(body),
    format: readFormat(body),
    stopSequences: readStopSequences(body),
    temperature: readNumber(body, "temperature", SHARES),
    topP: readNumber(body, "top_p", SHARES),
    topK: readNumber(body, "top_k"),
    endUser: readEndUser(body),
  };
}

function rejectRemote(body: JsonObject): void {
  const remote = REMOTE_FIELDS.find((field) => isSet(body[field]) && !isNewThread(body[field]));
  if (remote !== undefined) rejectUntranslatable(remote);
  if (readArray(body.mcp_servers).length > 0) rejectUntranslatable("mcp_servers");
  // A limit of 0 only warms the cache, which no other format can express.
  if (body.max_tokens === 0) rejectUntranslatable("max_tokens");
}

const THINKING: readonly unknown[] = ["enabled", "adaptive", "disabled"] satisfies Reasoning["thinking"][];

/** Reads the reasoning settings. Ignores unknown values of `thinking.type` and `effort`. */
function readReasoning(body: JsonObject): Reasoning {
  const { type, display, budget_tokens: budget } = readObject(body, "thinking") ?? {};
  const { effort } = isJsonObject(body.output_config) ? body.output_config : {};
  const thinking = isThinking(type) ? type : undefined;
  return {
    effort: isEffort(effort) ? effort : undefined,
    thinking,
    budgetTokens: thinking === "enabled" ? readBudget(budget) || undefined : undefined,
    isShown: (thinking === "enabled" || thinking === "adaptive") && display !== "omitted",
  };
}

function isThinking(value: unknown): value is NonNullable<Reasoning["thinking"]> {
  return THINKING.includes(value);
}

/** Reads the answer's format from `output_config.format`, or from the older `output_format`. */
function readFormat(body: JsonObject): OutputFormat | undefined {
  const config = isJsonObject(body.output_config) ? body.output_config : {};
  const [format, path] = isSet(config.format)
    ? [config.format, "output_config.format"]
    : [body.output_format, "output_format"];
  if (!isSet(format)) return undefined;
  if (!isJsonObject(format)) reject(path);
  const { type, schema } = format;
  if (type !== "json_schema") rejectUntranslatable(`${path}.type`);
  if (!isJsonObject(schema) || isTooDeep(schema)) reject(`${path}.schema`);
  return { kind: "schema", name: undefined, description: undefined, schema, strict: undefined };
}

function readStopSequences(body: JsonObject): readonly string[] {
  return readList(body, "stop_sequences")
    .map((sequence, position) =>
      typeof sequence === "string" ? sequence : reject(`stop_sequences[${position}]`),
    )
    .filter((sequence) => sequence !== "");
}

export function readEndUser({ metadata }: JsonObject): string | undefined {
  return (isJsonObject(metadata) && readText(metadata.user_id)) || undefined;
}

type Tools = Pick<ChatRequest, "tools" | "toolChoice" | "parallelToolCalls">;

/**
 * Types of tools that the client runs, with inputs that only Anthropic's models know. Others run at the
 * provider.
 */
const CLIENT_TOOLS = /^(bash|text_editor|computer|memory|browser)_/;

/**
 * Reads the tools and the tool choice. Tools that run at the provider are left out, because clients offer
 * them by default. Throws `untranslatable` when the choice requires such a tool, or for a tool that only
 * Anthropic's models know.
 */
function readTools(body: JsonObject): Tools {
  const tools = readList(body, "tools").flatMap(readTool);
  const choice = readObject(body, "tool_choice");
  const toolChoice = choice && readChoice(choice, tools);
  if (tools.length === 0) return { tools, toolChoice: undefined, parallelToolCalls: undefined };
  return {
    tools,
    toolChoice,
    parallelToolCalls: choice?.disable_parallel_tool_use === true ? false : undefined,
  };
}

function readTool(tool: unknown, position: number): readonly Tool[] {
  const path = `tools[${position}]`;
  if (!isJsonObject(tool)) reject(path);
  if (isSet(tool.type) && tool.type !== "custom") {
    return CLIENT_TOOLS.test(readText(tool.type)) ? rejectUntranslatable(`${path}.type`) : [];
  }
  return [
    {
      name: requireName(tool.name, `${path}.name`),
      description: readText(tool.description) || undefined,
      schema: readSchema(tool.input_schema, `${path}.input_schema`),
      strict: typeof tool.strict === "boolean" ? tool.strict : undefined,
      isFreeForm: false,
      cache: readCacheMark(tool),
    },
  ];
}

function readSchema(schema: unknown, path: string): JsonSchema {
  if (!isSet(schema)) return { type: "object", properties: {} };
  return isJsonObject(schema) && !isTooDeep(schema) ? schema : reject(path);
}

function readChoice(choice: JsonObject, tools: readonly Tool[]): ToolChoice | undefined {
  if (choice.type === "auto" || choice.type === "none") return { kind: choice.type };
  if (choice.type === "any")
    return tools.length > 0 ? { kind: "required" } : rejectUntranslatable("tool_choice");
  if (choice.type !== "tool") reject("tool_choice.type");
  const name = requireName(choice.name, "tool_choice.name");
  if (!tools.some((tool) => tool.name === name)) rejectUntranslatable("tool_choice.name");
  return { kind: "tool", name };
}
