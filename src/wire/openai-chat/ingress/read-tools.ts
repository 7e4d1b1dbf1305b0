import type { ChatRequest, JsonSchema, Tool, ToolChoice } from "../../../domain/chat-request.ts";
import { readCacheMark } from "../../cache-mark.ts";
import { isJsonObject, isSet, type JsonObject, readArray } from "../../json/read.ts";
import { readList, refuse, refuseUntranslatable, requireName } from "../../request-body.ts";
import { readOptionalFlag, readOptionalSchema, readOptionalText, requireObject } from "./read-member.ts";

const NO_PARAMETERS: JsonSchema = { type: "object", properties: {} };
const NO_TOOLS = { tools: [], toolChoice: undefined, parallelToolCalls: undefined };
/** The words for a choice; hosts have one of their own. */
const CHOICES = new Map<unknown, ToolChoice>([
  ["auto", { kind: "auto" }],
  ["none", { kind: "none" }],
  ["required", { kind: "required" }],
  ["any", { kind: "required" }],
]);

/** The tools, and what may become of them. */
export function readTools(body: JsonObject): Pick<ChatRequest, "tools" | "toolChoice" | "parallelToolCalls"> {
  const tools = readList(body, "tools").map(readTool);
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
  const at = `${path}.function`;
  const definition = requireObject(tool, "function", path);
  return {
    name: requireName(definition.name, `${at}.name`),
    description: readOptionalText(definition, "description", at),
    schema: readOptionalSchema(definition, "parameters", at) ?? NO_PARAMETERS,
    strict: readOptionalFlag(definition, "strict", at),
    isFreeForm: false,
    cache: readCacheMark(tool),
  };
}

function readChoice({ tool_choice: choice }: JsonObject): ToolChoice | undefined {
  if (!isSet(choice)) return undefined;
  if (!isJsonObject(choice)) return CHOICES.get(choice) ?? refuse("tool_choice");
  if (choice.type !== "function") refuseUntranslatable("tool_choice.type");
  const named = requireObject(choice, "function", "tool_choice");
  return { kind: "tool", name: requireName(named.name, "tool_choice.function.name") };
}

/** A choice that names the only tools that may be used: the others might as well not be there. */
function readAllowed(choice: JsonObject, tools: readonly Tool[]) {
  const path = "tool_choice.allowed_tools";
  const { mode, tools: listed } = requireObject(choice, "allowed_tools", "tool_choice");
  const names = new Set(
    readArray(listed).map((tool, position) => {
      if (!isJsonObject(tool)) refuse(`${path}.tools[${position}]`);
      const named = isJsonObject(tool.function) ? tool.function : tool;
      return requireName(named.name, `${path}.tools[${position}].name`);
    }),
  );
  if (mode !== "auto" && mode !== "required") refuse(`${path}.mode`);
  const toolChoice: ToolChoice = { kind: mode };
  return { toolChoice, tools: tools.filter(({ name }) => names.has(name)) };
}
