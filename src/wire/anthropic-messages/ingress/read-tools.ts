import type { ChatRequest, JsonSchema, Tool, ToolChoice } from "../../../domain/chat-request.ts";
import { isTooDeep } from "../../json/bounds.ts";
import { isJsonObject, isSet, type JsonObject, readText } from "../../json/read.ts";
import { readList, readObject, reject, rejectUntranslatable, requireName } from "../../request-body.ts";
import { readCacheMark } from "../../request-fields.ts";

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
export function readTools(body: JsonObject): Tools {
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
