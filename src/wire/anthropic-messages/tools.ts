import type { ToolDemand, ToolDemands } from "../../domain/tool-fees.ts";
import { isCount } from "../../domain/usage.ts";
import { editElements, editMembers, sliceMember, type ValueEdit } from "../json/edit.ts";
import { isJsonObject, isSet, type JsonObject, parseJsonObject, readArray, readText } from "../json/read.ts";
import type { ToolBound } from "../model-request.ts";
import type { ReplyPart } from "../reply-part.ts";
import {
  type ChoiceOfTools,
  isNamed,
  readCallsMax,
  readDemands,
  rejectDemand,
  rejectRepeatedMembers,
  type ToolRules,
} from "../tool-demands.ts";

/** Tools without a fee that need no bound either: most of them run at the client. */
const FREE = new Set([
  "custom",
  "bash",
  "text_editor",
  "computer",
  "memory",
  "tool_search_tool_regex",
  "tool_search_tool_bm25",
  "mcp_toolset",
]);
/** Fetching costs nothing beside its tokens, but may be given a fee. */
const FREE_BUT_BOUNDED = "web_fetch";
/** A request has one container, which is billed by time: one call is one container. */
const CONTAINER = "code_execution";

/** @see https://platform.claude.com/docs/en/agents-and-tools/tool-use/server-tools */
const RULES: ToolRules = { free: FREE, date: /_\d{8}$/, optional: new Set(["web_search"]), readDemand };

function readDemand(name: string, tool: JsonObject, path: string): ToolDemand {
  const demand = { name, path: `${path}.type` };
  if (name === CONTAINER) return { ...demand, callsMax: 1 };
  const callsMax = readCallsMax(tool.max_uses, `${path}.max_uses`, 1);
  return { ...demand, callsMax, ...(name === FREE_BUT_BOUNDED && { isFree: true }) };
}

/** Reads the tools that run at the provider; `undefined` for none. Throws `unpriced_field` and `wrong_shape`. */
export function readToolDemands(
  { tools, tool_choice: choice }: JsonObject,
  text: string,
  repeatsKeys: boolean,
): ToolDemands | undefined {
  if (repeatsKeys) rejectRepeatedMembers(text);
  const demands = readDemands(tools, RULES, { choice: readChoice(choice, tools) });
  if (demands.length === 0) return undefined;
  const areAll = readArray(tools).filter(runsAtUpstream).length === demands.length;
  return { tools: demands, ...(areAll && { areAll }) };
}

/** Whether a tool may run at the provider. */
export function runsAtUpstream(tool: unknown): tool is JsonObject {
  return isJsonObject(tool) && isSet(tool.type) && tool.type !== "custom";
}

/** @see https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use `tool_choice` */
function readChoice(choice: unknown, tools: unknown): ChoiceOfTools {
  const { type = "auto", name } = isJsonObject(choice) ? choice : {};
  if (type === "auto" || type === "none") return "free";
  if (type === "any") return "any";
  const isOfClient = readArray(tools).some(
    (tool) => isJsonObject(tool) && tool.name === name && !runsAtUpstream(tool),
  );
  return isOfClient ? "free" : "forced";
}

/** Drops tools from a printed body: a body without tools has no choice of one either. */
export function dropToolsOf(text: string, names: readonly string[]): string {
  let left: string | undefined;
  const edited = editMembers(text, { tools: (list) => (left = list && dropMarked(list, names)) });
  return left === "[]"
    ? editMembers(edited, { tools: () => undefined, tool_choice: () => undefined })
    : edited;
}

/** Drops tools from a list. The tool before one that ends a cached prefix ends it instead. */
function dropMarked(list: string, names: readonly string[]): string {
  if (!list.startsWith("[")) return list;
  const kept: string[] = [];
  editElements(list, (tool) => {
    if (!isNamed(tool, names, RULES)) kept.push(tool);
    else markLast(kept, sliceMember(tool, CACHE_MARK) ?? NULL);
    return tool;
  });
  return `[${kept.join(",")}]`;
}

const CACHE_MARK = "cache_control";
const NULL = "null";

function markLast(kept: string[], mark: string): void {
  const last = kept.at(-1);
  if (last === undefined || mark === NULL) return;
  const setMark: ValueEdit = (own = NULL) => (own === NULL ? mark : own);
  kept[kept.length - 1] = editMembers(last, { [CACHE_MARK]: setMark });
}

/** Throws `unpriced_field` for a tool with a fee that a message defines, whose calls have no bound. */
export function rejectPaidTool(tool: JsonObject, path: string): void {
  rejectDemand(tool, RULES, path);
}

/** Sets the bound of tools that have a fee and none of their own. */
export function boundTools({ names, callsMax }: ToolBound): ValueEdit {
  const setBound: ValueEdit = (value) => (value === undefined || value === "null" ? String(callsMax) : value);
  return (list) =>
    list?.startsWith("[")
      ? editElements(list, (tool) => {
          const type = tool.startsWith("{") ? readText(parseJsonObject(tool)?.type) : "";
          return names.includes(type.replace(RULES.date, ""))
            ? editMembers(tool, { max_uses: setBound })
            : tool;
        })
      : list;
}

/** The reported count of a tool, as in `web_search_requests`. */
const REQUESTS = "_requests";

/** Reads how often tools ran, from the usage of an answer. A number that is no count stays as it is. */
function readReportedCalls(usage: unknown): Readonly<Record<string, unknown>> {
  const reported = isJsonObject(usage) ? usage.server_tool_use : undefined;
  if (!isJsonObject(reported)) return {};
  const counts = Object.entries(reported).filter(([name, count]) => name.endsWith(REQUESTS) && isSet(count));
  return Object.fromEntries(counts.map(([name, count]) => [name.slice(0, -REQUESTS.length), count]));
}

/** Returns the tool that a block is a call of; `undefined` for every other block. */
function calledTool({ type, name }: JsonObject): string | undefined {
  if (type !== "server_tool_use") return undefined;
  const called = readText(name);
  // A container has several tools.
  return called.endsWith(CONTAINER) ? CONTAINER : called;
}

/** Counts the calls of an answer that is read block by block, of the tools of its request. */
export function createCallCounter({ tools }: ToolDemands) {
  const names = new Set(tools.map(({ name }) => name));
  const seen: Record<string, number> = {};
  let reported: Readonly<Record<string, unknown>> = {};

  const calls = () => {
    const counted: Record<string, number> = {};
    for (const name of names) {
      const count = isCount(reported[name]) ? reported[name] : seen[name];
      if (count !== undefined) counted[name] = count;
    }
    return counted;
  };
  return {
    /** Counts a block that begins. Returns all calls, `undefined` when the block is none. */
    see(block: unknown) {
      const name = isJsonObject(block) ? calledTool(block) : undefined;
      if (name === undefined || !names.has(name)) return undefined;
      seen[name] = name === CONTAINER ? 1 : (seen[name] ?? 0) + 1;
      return calls();
    },
    /** Reads a usage behind the calls that it counts. Where a number cannot be, the calls that were seen count. */
    report(usage: unknown): Pick<ReplyPart, "calls" | "areCallsRejected"> {
      reported = { ...reported, ...readReportedCalls(usage) };
      const isRejected = [...names].some((name) => isSet(reported[name]) && !isCount(reported[name]));
      return { calls: calls(), ...(isRejected && { areCallsRejected: true }) };
    },
  };
}
