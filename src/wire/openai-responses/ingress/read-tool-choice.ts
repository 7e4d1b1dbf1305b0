import type { Tool, ToolChoice } from "../../../domain/chat-request.ts";
import { isJsonObject, isSet, type JsonObject, readText } from "../../json/read.ts";
import { reject, rejectUntranslatable, requireName } from "../../request-body.ts";
import { joinName } from "./read-tools.ts";

/** Which tools the model may call and whether it must. */
interface ToolUse {
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice | undefined;
}

const MODES: readonly unknown[] = ["auto", "none", "required"] satisfies ToolChoice["kind"][];

/** Reads the choice among the tools of a body; a list of allowed ones leaves out the others. */
export function readToolChoice({ tool_choice: choice }: JsonObject, tools: readonly Tool[]): ToolUse {
  if (!isSet(choice)) return { tools, toolChoice: undefined };
  if (isMode(choice)) return { tools, toolChoice: { kind: choice } };
  if (!isJsonObject(choice)) reject("tool_choice");
  if (choice.type === "allowed_tools") return readAllowed(choice, tools);
  if (choice.type !== "function" && choice.type !== "custom") rejectUntranslatable("tool_choice.type");
  return { tools, toolChoice: { kind: "tool", name: readName(choice) } };
}

function readAllowed({ mode, tools: allowed }: JsonObject, tools: readonly Tool[]): ToolUse {
  if (isSet(mode) && !isMode(mode)) reject("tool_choice.mode");
  if (!Array.isArray(allowed)) reject("tool_choice.tools");
  const names = new Set(
    allowed.map((tool: unknown, position) => readAllowedName(tool, `tool_choice.tools[${position}]`)),
  );
  return {
    tools: tools.filter(({ name }) => names.has(name)),
    toolChoice: isMode(mode) ? { kind: mode } : undefined,
  };
}

function readName({ namespace, name }: JsonObject): string {
  const path = "tool_choice.name";
  return joinName(namespace, requireName(name, path), path);
}

/** What has no name is none of ours: a tool that runs at OpenAI. */
function readAllowedName(tool: unknown, path: string): string | undefined {
  if (!isJsonObject(tool) || readText(tool.name) === "") return undefined;
  return joinName(tool.namespace, readText(tool.name), `${path}.name`);
}

function isMode(value: unknown): value is "auto" | "none" | "required" {
  return MODES.includes(value);
}
