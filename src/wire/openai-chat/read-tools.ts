import type { ChatRequest, JsonSchema, Tool, ToolChoice } from "../../domain/chat-request.ts";
import { readCacheMark } from "../cache-mark.ts";
import { isJsonObject, isSet, type JsonObject, readArray } from "../json-read.ts";
import { readList, refuse, refuseUntranslatable } from "../request-body.ts";
import {
  readOptionalFlag,
  readOptionalSchema,
  readOptionalText,
  requireObject,
  requireText,
} from "./read-member.ts";

const NO_PARAMETERS: JsonSchema = { type: "object", properties: {} };
const NO_TOOLS = { tools: [], toolChoice: undefined, parallelToolCalls: undefined };
/** The words for a choice; hosts have one of their own. */
const CHOICES = new Map<unknown, ToolChoice>([
  ["auto", { kind: "auto" }],
  ["none", { kind: "none" }],
  ["required", { kind: "required" }],
  ["any", { kind: "required" }],
]);

/** The tools, and what may become of them; `functions` is how they were called before there were others. */
export function readTools(body: JsonObject): Pick<ChatRequest, "tools" | "toolChoice" | "parallelToolCalls"> {
  const tools = [...readList(body, "tools").map(readTool), ...readList(body, "functions").map(readFunction)];
  const chosen = isJsonObject(body.tool_choice) && body.tool_choice.type === "allowed_tools";
  const allowed = chosen ? readAllowed(requireObject(body, "tool_choice", ""), tools) : undefined;
  const left = allowed?.tools ?? tools;
  const toolChoice = allowed?.toolChoice ?? readChoice(body);
  const parallelToolCalls = readOptionalFlag(body, "parallel_tool_calls", "");
  return left.length === 0 ? NO_TOOLS : { tools: left, toolChoice, parallelToolCalls };
}

function readTool(tool: unknown, position: number): Tool {
  const path = `tools[${position}]`;
  if (!isJsonObject(tool)) refuse(path);
  if (isSet(tool.type) && tool.type !== "function") refuseUntranslatable(`${path}.type`);
  return { ...readDefinition(tool.function, `${path}.function`), cache: readCacheMark(tool) };
}

function readFunction(definition: unknown, position: number): Tool {
  return { ...readDefinition(definition, `functions[${position}]`), cache: undefined };
}

function readDefinition(definition: unknown, path: string): Omit<Tool, "cache"> {
  if (!isJsonObject(definition)) refuse(path);
  return {
    name: requireText(definition, "name", path),
    description: readOptionalText(definition, "description", path),
    schema: readOptionalSchema(definition, "parameters", path) ?? NO_PARAMETERS,
    strict: readOptionalFlag(definition, "strict", path),
    isFreeForm: false,
  };
}

function readChoice(body: JsonObject): ToolChoice | undefined {
  const field = isSet(body.tool_choice) ? "tool_choice" : "function_call";
  const choice = body[field];
  if (!isSet(choice)) return undefined;
  if (!isJsonObject(choice)) return CHOICES.get(choice) ?? refuse(field);
  if (field === "function_call") return { kind: "tool", name: requireText(choice, "name", field) };
  if (choice.type !== "function") refuseUntranslatable("tool_choice.type");
  const named = requireObject(choice, "function", field);
  return { kind: "tool", name: requireText(named, "name", "tool_choice.function") };
}

/** A choice that names the only tools that may be used: the others might as well not be there. */
function readAllowed(choice: JsonObject, tools: readonly Tool[]) {
  const path = "tool_choice.allowed_tools";
  const { mode, tools: listed } = requireObject(choice, "allowed_tools", "tool_choice");
  const names = new Set(
    readArray(listed).map((tool, position) => {
      if (!isJsonObject(tool)) refuse(`${path}.tools[${position}]`);
      const named = isJsonObject(tool.function) ? tool.function : tool;
      return requireText(named, "name", `${path}.tools[${position}]`);
    }),
  );
  if (mode !== "auto" && mode !== "required") refuse(`${path}.mode`);
  const toolChoice: ToolChoice = { kind: mode };
  return { toolChoice, tools: tools.filter(({ name }) => names.has(name)) };
}
