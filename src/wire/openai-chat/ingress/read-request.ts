import type {
  ChatRequest,
  Effort,
  JsonSchema,
  OutputFormat,
  Reasoning,
  Tool,
  ToolChoice,
} from "../../../domain/chat-request.ts";
import { createValueBudget } from "../../json/bounds.ts";
import { isJsonObject, isSet, type JsonObject, readArray } from "../../json/read.ts";
import {
  readBudget,
  readList,
  readNumber,
  readObject,
  reject,
  rejectUntranslatable,
  requireMessages,
  requireName,
  SHARES,
  TEMPERATURES,
} from "../../request-body.ts";
import { isEffort, readCacheMark, readEndUser } from "../../request-fields.ts";
import { readOptionalFlag, readOptionalSchema, readOptionalText, requireObject } from "./read-member.ts";
import { readTurns } from "./read-messages.ts";

const COUNTS = { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER };

/**
 * Reads a chat body into the neutral form. Throws `untranslatable` for a field that no other format can
 * represent, and `wrong_shape` for a malformed one. Drops fields whose loss no client notices.
 *
 * @see https://platform.openai.com/docs/api-reference/chat/create
 */
export function readChatRequest(body: JsonObject): ChatRequest {
  const budget = createValueBudget(body);
  rejectAnswerFields(body);
  return {
    turns: readTurns(requireMessages(body), budget),
    ...readTools(body),
    reasoning: readReasoning(body),
    format: readFormat(body),
    stopSequences: readStop(body),
    temperature: readNumber(body, "temperature", TEMPERATURES),
    topP: readNumber(body, "top_p", SHARES),
    topK: readTopK(body),
    seed: readSampling(body, "seed"),
    presencePenalty: readSampling(body, "presence_penalty"),
    frequencyPenalty: readSampling(body, "frequency_penalty"),
    cache: readCacheMark(body),
    endUser: readEndUser(body),
  };
}

/** Throws `untranslatable` for fields whose effect the client would miss in the answer. */
function rejectAnswerFields(body: JsonObject): void {
  if (typeof body.n === "number" && body.n > 1) rejectUntranslatable("n");
  if (body.logprobs === true) rejectUntranslatable("logprobs");
  if (typeof body.top_logprobs === "number" && body.top_logprobs > 0) rejectUntranslatable("top_logprobs");
  if (isSet(body.audio)) rejectUntranslatable("audio");
  if (readArray(body.modalities).some((each) => each !== "text")) rejectUntranslatable("modalities");
  if (isSet(body.web_search_options)) rejectUntranslatable("web_search_options");
  if (readArray(body.plugins).length > 0) rejectUntranslatable("plugins");
  rejectFunctions(body);
}

/** Throws `untranslatable` for the deprecated `functions`: clients that send them cannot read tool calls. */
function rejectFunctions(body: JsonObject): void {
  if (readList(body, "functions").length > 0) rejectUntranslatable("functions");
  const { function_call: choice } = body;
  if (isSet(choice) && choice !== "auto" && choice !== "none") rejectUntranslatable("function_call");
}

/** Reads OpenAI's `reasoning_effort`, and the `reasoning` and `thinking` objects of other hosts. */
function readReasoning(body: JsonObject): Reasoning {
  const reasoning = readObject(body, "reasoning") ?? {};
  const thinking = readObject(body, "thinking") ?? {};
  const budget = readBudget(thinking.budget_tokens) || readBudget(reasoning.max_tokens);
  const mode = modeOf(reasoning, thinking);
  return {
    effort:
      readEffort(body.reasoning_effort, "reasoning_effort") ??
      readEffort(reasoning.effort, "reasoning.effort"),
    thinking: budget > 0 && mode !== "disabled" ? "enabled" : mode,
    budgetTokens: budget > 0 && mode !== "disabled" ? budget : undefined,
    isShown: reasoning.exclude !== true,
  };
}

/** Returns the reasoning mode without regard to the budget: enabled reasoning is adaptive. */
function modeOf(reasoning: JsonObject, thinking: JsonObject): Reasoning["thinking"] {
  if (thinking.type === "disabled" || reasoning.enabled === false) return "disabled";
  return isSet(thinking.type) || reasoning.enabled === true ? "adaptive" : undefined;
}

function readEffort(value: unknown, path: string): Effort | undefined {
  if (!isSet(value)) return undefined;
  return isEffort(value) ? value : reject(path);
}

/** Reads `response_format`; `undefined` for plain text. */
function readFormat(body: JsonObject): OutputFormat | undefined {
  const format = readObject(body, "response_format");
  if (!format || !isSet(format.type) || format.type === "text") return undefined;
  if (format.type === "json_object") return { kind: "json" };
  if (format.type !== "json_schema") rejectUntranslatable("response_format.type");
  const path = "response_format.json_schema";
  const definition = requireObject(format, "json_schema", "response_format");
  const schema = readOptionalSchema(definition, "schema", path);
  if (schema === undefined) return { kind: "json" };
  return {
    kind: "schema",
    name: readOptionalText(definition, "name", path),
    description: readOptionalText(definition, "description", path),
    schema,
    strict: readOptionalFlag(definition, "strict", path),
  };
}

function readStop({ stop }: JsonObject): readonly string[] {
  if (!isSet(stop)) return [];
  const stops: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
  return stops
    .map((each) => (typeof each === "string" ? each : reject("stop")))
    .filter((each) => each !== "");
}

/** Reads a number that only some hosts have; `undefined` for any other value, which those hosts ignore. */
function readSampling(body: JsonObject, name: string): number | undefined {
  const value = body[name];
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** Reads `top_k`. Hosts write "all tokens" as 0 or -1. */
function readTopK(body: JsonObject): number | undefined {
  const topK = readNumber(body, "top_k", COUNTS);
  if (topK !== undefined && !Number.isInteger(topK)) reject("top_k");
  return topK !== undefined && topK > 0 ? topK : undefined;
}

const NO_PARAMETERS: JsonSchema = { type: "object", properties: {} };
const NO_TOOLS = { tools: [], toolChoice: undefined, parallelToolCalls: undefined };
/** The names of tool choices; `any` is sent by clients of some hosts. */
const CHOICES = new Map<unknown, ToolChoice>([
  ["auto", { kind: "auto" }],
  ["none", { kind: "none" }],
  ["required", { kind: "required" }],
  ["any", { kind: "required" }],
]);

/** Reads the tools and the tool choice. Without tools, the choice is dropped. */
function readTools(body: JsonObject): Pick<ChatRequest, "tools" | "toolChoice" | "parallelToolCalls"> {
  const tools = readList(body, "tools").map(readTool);
  const hasAllowedTools = isJsonObject(body.tool_choice) && body.tool_choice.type === "allowed_tools";
  const allowed = hasAllowedTools ? readAllowed(requireObject(body, "tool_choice", ""), tools) : undefined;
  const remaining = allowed?.tools ?? tools;
  const toolChoice = allowed?.toolChoice ?? readChoice(body);
  const parallelToolCalls = readOptionalFlag(body, "parallel_tool_calls", "");
  return remaining.length === 0 ? NO_TOOLS : { tools: remaining, toolChoice, parallelToolCalls };
}

function readTool(tool: unknown, position: number): Tool {
  const path = `tools[${position}]`;
  if (!isJsonObject(tool)) reject(path);
  if (isSet(tool.type) && tool.type !== "function") rejectUntranslatable(`${path}.type`);
  const functionPath = `${path}.function`;
  const definition = requireObject(tool, "function", path);
  return {
    name: requireName(definition.name, `${functionPath}.name`),
    description: readOptionalText(definition, "description", functionPath),
    schema: readOptionalSchema(definition, "parameters", functionPath) ?? NO_PARAMETERS,
    strict: readOptionalFlag(definition, "strict", functionPath),
    isFreeForm: false,
    cache: readCacheMark(tool),
  };
}

function readChoice({ tool_choice: choice }: JsonObject): ToolChoice | undefined {
  if (!isSet(choice)) return undefined;
  if (!isJsonObject(choice)) return CHOICES.get(choice) ?? reject("tool_choice");
  if (choice.type !== "function") rejectUntranslatable("tool_choice.type");
  const named = requireObject(choice, "function", "tool_choice");
  return { kind: "tool", name: requireName(named.name, "tool_choice.function.name") };
}

/** Reads a choice of type `allowed_tools`. Tools that it does not name are dropped. */
function readAllowed(choice: JsonObject, tools: readonly Tool[]) {
  const path = "tool_choice.allowed_tools";
  const { mode, tools: listed } = requireObject(choice, "allowed_tools", "tool_choice");
  const names = new Set(
    readArray(listed).map((tool, position) => {
      if (!isJsonObject(tool)) reject(`${path}.tools[${position}]`);
      const named = isJsonObject(tool.function) ? tool.function : tool;
      return requireName(named.name, `${path}.tools[${position}].name`);
    }),
  );
  if (mode !== "auto" && mode !== "required") reject(`${path}.mode`);
  const toolChoice: ToolChoice = { kind: mode };
  return { toolChoice, tools: tools.filter(({ name }) => names.has(name)) };
}
