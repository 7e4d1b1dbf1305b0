import type { JsonSchema, Tool, ToolChoice } from "../../../domain/chat-request.ts";
import { isTooDeep } from "../../json/bounds.ts";
import { isJsonObject, isSet, type JsonObject, readText } from "../../json/read.ts";
import { NAME_CHARS_MAX, readList, reject, rejectUntranslatable, requireName } from "../../request-body.ts";

/** A tool, with the name and the namespace under which the client calls it. */
export interface OfferedTool {
  readonly tool: Tool;
  readonly name: string;
  readonly namespace: string | undefined;
}

/**
 * Types of tools that agents and SDKs offer by default and that run at OpenAI or need its help. They are
 * dropped; a tool of any other such type was chosen by the user and is rejected.
 */
const DROPPED = /^(web_search(_preview)?(_\d{4}_\d{2}_\d{2})?|tool_search|image_generation|local_shell)$/;
/** Separates a namespace from a tool name in a joined name. */
const SEPARATOR = "__";
const NO_PARAMETERS: JsonSchema = { type: "object", properties: {} };

/**
 * Reads every tool of a body: those of `tools`, and those of `additional_tools` items in the input. Throws
 * `untranslatable` for a tool that cannot be dropped or translated, and `wrong_shape`.
 */
export function readOfferedTools(body: JsonObject, items: readonly JsonObject[]): readonly OfferedTool[] {
  const added = items.flatMap((item, position) =>
    item.type === "additional_tools" ? readTools(item, `input[${position}].`) : [],
  );
  return [...readTools(body, ""), ...added];
}

/**
 * Joins a namespace and a tool name for formats without namespaces. Throws `wrong_shape` above 256
 * characters. Checks the length before joining, because a long namespace would be copied for every tool.
 */
export function joinName(namespace: unknown, name: string, path: string): string {
  const space = readText(namespace);
  const spaceChars = space === "" ? 0 : space.length + SEPARATOR.length;
  if (spaceChars + name.length > NAME_CHARS_MAX) reject(path);
  return space === "" ? name : space + SEPARATOR + name;
}

function readTools(holder: JsonObject, prefix: string): readonly OfferedTool[] {
  return readList(holder, "tools").flatMap((tool, position) => readTool(tool, `${prefix}tools[${position}]`));
}

function readTool(tool: unknown, path: string): readonly OfferedTool[] {
  if (!isJsonObject(tool)) reject(path);
  if (tool.type === "namespace") return readNamespace(tool, path);
  return DROPPED.test(readText(tool.type)) ? [] : [readClientTool(tool, undefined, path)];
}

function readNamespace(space: JsonObject, path: string): readonly OfferedTool[] {
  const namespace = requireName(space.name, `${path}.name`);
  if (!Array.isArray(space.tools)) reject(`${path}.tools`);
  return space.tools.map((tool: unknown, position) => {
    const place = `${path}.tools[${position}]`;
    if (!isJsonObject(tool)) reject(place);
    return readClientTool(tool, namespace, place);
  });
}

/** Reads a tool that the client runs. */
function readClientTool(tool: JsonObject, namespace: string | undefined, path: string): OfferedTool {
  if (typeof tool.type !== "string") reject(`${path}.type`);
  const isFreeForm = tool.type === "custom";
  if (!isFreeForm && tool.type !== "function") rejectUntranslatable(`${path}.type`);
  const name = requireName(tool.name, `${path}.name`);
  return {
    name,
    namespace,
    tool: {
      name: joinName(namespace, name, `${path}.name`),
      description: readText(tool.description) || undefined,
      schema: isFreeForm ? freeFormSchema(tool.format) : readSchema(tool, path),
      strict: typeof tool.strict === "boolean" ? tool.strict : undefined,
      isFreeForm,
      cache: undefined,
    },
  };
}

function readSchema({ parameters }: JsonObject, path: string): JsonSchema {
  if (!isSet(parameters)) return NO_PARAMETERS;
  if (!isJsonObject(parameters) || isTooDeep(parameters)) reject(`${path}.parameters`);
  return parameters;
}

/** Returns the schema of a free-form tool: one text, whose description contains the tool's grammar. */
function freeFormSchema(format: unknown): JsonSchema {
  const { definition, syntax } = isJsonObject(format) ? format : {};
  const grammar = readText(definition);
  const rule = grammar === "" ? "" : ` It follows this ${readText(syntax)} grammar:\n${grammar}`;
  const input = { type: "string", description: `The whole input of the tool, as plain text.${rule}` };
  return { type: "object", properties: { input }, required: ["input"], additionalProperties: false };
}

/** The tools that the model may call, and whether it must call one. */
interface ToolUse {
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice | undefined;
}

const MODES: readonly unknown[] = ["auto", "none", "required"] satisfies ToolChoice["kind"][];

/**
 * Reads the tool choice of a body. A list of allowed tools removes all others. Throws `untranslatable` for a
 * choice of a tool that runs at OpenAI, and `wrong_shape`.
 */
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

/** Returns `undefined` for a tool without a name, which runs at OpenAI. */
function readAllowedName(tool: unknown, path: string): string | undefined {
  if (!isJsonObject(tool) || readText(tool.name) === "") return undefined;
  return joinName(tool.namespace, readText(tool.name), `${path}.name`);
}

function isMode(value: unknown): value is "auto" | "none" | "required" {
  return MODES.includes(value);
}
