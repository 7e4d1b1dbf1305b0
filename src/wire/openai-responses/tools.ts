import type { ToolCalls, ToolDemand, ToolDemands } from "../../domain/tool-fees.ts";
import {
  type Edits,
  editElements,
  editMembers,
  keepElements,
  sliceMember,
  type ValueEdit,
} from "../json/edit.ts";
import { isJsonObject, isSet, type JsonObject, readArray, readText } from "../json/read.ts";
import { type ChoiceOfTools, dropTools, readCallsMax, readDemands, type ToolRules } from "../tool-demands.ts";
import { rejectUnpricedField } from "../unpriced-fields.ts";
import { UpstreamFault } from "../upstream-fault.ts";
import { CLIENT_TOOLS, countServerTools } from "./size.ts";

/** The bound of the calls of all tools that run at the provider. */
export const MAX_TOOL_CALLS = "max_tool_calls";

/** Tools that run at the client, and those that cost nothing beside their tokens. */
const FREE = new Set([
  ...CLIENT_TOOLS,
  "computer",
  "computer_use",
  "computer_use_preview",
  "mcp",
  "openrouter:datetime",
]);
/** The memory of a container that its fee is for; more costs more. */
const MEMORY = "1g";
const CONTAINERS: readonly string[] = ["code_interpreter", "shell"];

/** @see https://developers.openai.com/api/docs/guides/tools */
const RULES: ToolRules = {
  free: FREE,
  date: /_(?:\d{4}_\d{2}_\d{2}|\d{8})$/,
  optional: new Set(["web_search", "web_search_preview", "image_generation"]),
  readDemand,
};

function readDemand(name: string, tool: JsonObject, path: string): ToolDemand | undefined {
  const { container, environment } = tool;
  if (name === "shell" && isJsonObject(environment) && environment.type === "local") return undefined;
  rejectMemory(container, `${path}.container`);
  rejectMemory(environment, `${path}.environment`);
  return { name, path: `${path}.type` };
}

function rejectMemory(container: unknown, path: string): void {
  if (!isJsonObject(container)) return;
  const { memory_limit: memory } = container;
  if (isSet(memory) && memory !== MEMORY) rejectUnpricedField(`${path}.memory_limit`);
}

/**
 * Reads the tools that run at the provider, those that items of the input add included; `undefined` for none.
 * Throws `unpriced_field` and `wrong_shape`.
 */
export function readToolDemands(body: JsonObject, items: readonly JsonObject[]): ToolDemands | undefined {
  const choice = readChoice(body.tool_choice);
  const added = items.flatMap(({ tools }, position) =>
    tools === undefined ? [] : readDemands(tools, RULES, { path: `input[${position}].tools`, choice }),
  );
  const tools = [...readDemands(body.tools, RULES, { choice }), ...added];
  if (tools.length === 0) return undefined;
  const areAll = countServerTools(body, items) === tools.length;
  const callsMax = readCallsMax(body[MAX_TOOL_CALLS], MAX_TOOL_CALLS, 0);
  return { tools, shared: { callsMax }, ...(areAll && { areAll }) };
}

const MODES: Readonly<Record<string, ChoiceOfTools>> = { auto: "free", none: "free", required: "any" };
/** The choices of one tool that the client runs. */
const CLIENT_CHOICES: readonly unknown[] = ["function", "custom"];

/** @see https://developers.openai.com/api/docs/guides/function-calling `tool_choice` */
function readChoice(choice: unknown): ChoiceOfTools {
  if (!isSet(choice)) return "free";
  if (!isJsonObject(choice)) return MODES[readText(choice)] ?? "forced";
  if (choice.type !== "allowed_tools") return CLIENT_CHOICES.includes(choice.type) ? "free" : "forced";
  const isOpen = readArray(choice.tools).some((tool) => isJsonObject(tool) && FREE.has(readText(tool.type)));
  return choice.mode === "auto" || isOpen ? "free" : "forced";
}

/** Edits a body so that it has no tool with one of these names, and nothing that refers to it. */
export function editsWithout(
  names: readonly string[],
  { tools }: ToolDemands,
): Edits & { input?: ValueEdit } {
  const drop = dropTools(names, RULES);
  const isAdded = tools.some(({ path }) => path.startsWith("input"));
  return {
    tools: drop,
    tool_choice: (choice) => (choice?.startsWith("{") ? narrowChoice(choice, drop) : choice),
    include: (list) =>
      list?.startsWith("[")
        ? keepElements(list, (field) => (isOfCall(field, names) ? undefined : field))
        : list,
    ...(isAdded && {
      input: (list) => list && editElements(list, (item) => editMembers(item, { tools: drop })),
    }),
  };
}

/** Drops tools from a choice of allowed ones. A choice of none at all lets the model call none. */
function narrowChoice(choice: string, drop: ValueEdit): string {
  const allowed = sliceMember(choice, "tools");
  const left = drop(allowed);
  if (allowed === undefined || left === allowed) return choice;
  return left === "[]" ? '"none"' : editMembers(choice, { tools: () => left });
}

/** Whether a field that an answer shall include is one of the calls of a tool, such as `web_search_call.results`. */
function isOfCall(field: string, names: readonly string[]): boolean {
  const included = readText(JSON.parse(field));
  return names.some((name) => included.startsWith(`${name}${CALL}.`));
}

/** One call of a tool at the provider, as an item of an answer shows it. */
interface CountedCall {
  readonly name: string;
  /** The container of a call that is charged once for each of them. */
  readonly container: string | undefined;
}

const CALL = "_call";
/** The calls of one answer that are followed. */
const CALLS_MAX = 10_000;

/** Counts the calls of an answer by its items, of the tools of its request. */
export function createCallCounter({ tools }: ToolDemands) {
  const names = tools.map(({ name }) => name);
  const found = new Map<unknown, CountedCall | undefined>();

  const readItem = (item: JsonObject): CountedCall | undefined => {
    const type = readText(item.type);
    if (!type.endsWith(CALL) || isPageVisit(item)) return undefined;
    const called = type.slice(0, -CALL.length);
    // The preview of a search has the items of a search.
    const name = names.find((each) => each === called) ?? names.find((each) => each.startsWith(`${called}_`));
    if (called === "" || name === undefined) return undefined;
    const hasContainer = CONTAINERS.includes(name) && typeof item.container_id === "string";
    return { name, container: hasContainer ? readText(item.container_id) : undefined };
  };
  const sum = (): ToolCalls => {
    const calls: Record<string, number> = {};
    const containers = new Set<string>();
    for (const call of found.values()) {
      if (!call || (call.container !== undefined && containers.has(call.container))) continue;
      if (call.container !== undefined) containers.add(call.container);
      calls[call.name] = (calls[call.name] ?? 0) + 1;
    }
    return calls;
  };
  // Calls that were counted as they began may turn out to be none.
  const all = () => ({ ...Object.fromEntries(names.map((name) => [name, 0])), ...sum() });
  return {
    /** Reads an item that began or ended. Returns all calls, `undefined` when the item is none. */
    see(index: unknown, item: JsonObject): ToolCalls | undefined {
      if (!readText(item.type).endsWith(CALL)) return undefined;
      found.set(index, readItem(item));
      if (found.size > CALLS_MAX) throw new UpstreamFault("There are too many tool calls");
      return all();
    },
    /** Reads all items of an answer, which replace those before. Returns `undefined` for an answer without items. */
    seeAll(output: unknown): ToolCalls | undefined {
      const items = readArray(output).filter(isJsonObject);
      if (items.length === 0) return undefined;
      found.clear();
      for (const [index, item] of items.entries()) found.set(index, readItem(item));
      return all();
    },
  };
}

/** Whether an item opens a page that a search found, or searches in it: only searches have a fee. */
function isPageVisit({ type, action }: JsonObject): boolean {
  if (type !== "web_search_call" || !isJsonObject(action)) return false;
  return action.type === "open_page" || action.type === "find_in_page" || action.type === "find";
}
