import type { ChatRequest, JsonSchema, Tool, ToolChoice } from "../../../domain/chat-request.ts";
import { isJsonObject, isSet, type JsonObject, readArray } from "../../json/read.ts";
import { readList, reject, rejectUntranslatable, requireName } from "../../request-body.ts";
import { readCacheMark } from "../../request-fields.ts";
import { readOptionalFlag, readOptionalSchema, readOptionalText, requireObject } from "./read-member.ts";

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
export function readTools(body: JsonObject): Pick<ChatRequest, "tools" | "toolChoice" | "parallelToolCalls"> {
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
