// Which tools of a request run at its provider, and how often they may.
import { TOOL_CALLS_MAX, TOOL_NAME_PATTERN, type ToolDemand } from "../domain/tool-fees.ts";
import {
  type Edits,
  editElements,
  editMembers,
  keepElements,
  once,
  sliceMember,
  type ValueEdit,
} from "./json/edit.ts";
import { findMiscased, isJsonObject, isSet, type JsonObject, readArray, readText } from "./json/read.ts";
import { reject } from "./request-body.ts";
import { rejectUnpricedField } from "./unpriced-fields.ts";

/** The tools of one format. */
export interface ToolRules {
  /** Tools that run at the client, or cost nothing beside their tokens, by names without dates. */
  readonly free: ReadonlySet<string>;
  /** The date at the end of a type, which does not belong to the name. */
  readonly date: RegExp;
  /** The tools that clients offer by default and miss nothing without. */
  readonly optional: ReadonlySet<string>;
  /** Reads a tool that may have a fee; `undefined` for one that runs at the client. */
  readDemand(name: string, tool: JsonObject, path: string): ToolDemand | undefined;
}

const NAME = new RegExp(TOOL_NAME_PATTERN);
/** The members of a tool that decide what it costs, and that no upstream may read in another spelling. */
const PRICED_MEMBERS = new Set(["type", "max_uses", "container", "environment"]);

/** How a tool choice binds the model: to no tool, to any tool of a list, or to one that may run at the provider. */
export type ChoiceOfTools = "free" | "any" | "forced";

/**
 * Reads the tools of a list that may have a fee, and those of its namespaces. Throws `unpriced_field` for a type
 * that is no name.
 */
export function readDemands(
  tools: unknown,
  rules: ToolRules,
  { path = "tools", choice = "free" }: { readonly path?: string; readonly choice?: ChoiceOfTools } = {},
): readonly ToolDemand[] {
  const demands: ToolDemand[] = [];
  const list = readArray(tools);
  for (const [position, tool] of list.entries()) {
    if (!isJsonObject(tool)) continue;
    const place = `${path}[${position}]`;
    const demand = readDemand(tool, rules, place);
    if (demand) demands.push(demand);
    // Tools at the provider do not stand in namespaces.
    if (Array.isArray(tool.tools)) rejectDemands(tool.tools, rules, `${place}.tools`);
  }
  const mayDrop = choice === "free" || (choice === "any" && demands.length < list.length);
  if (!mayDrop) return demands;
  return demands.map((demand) =>
    rules.optional.has(demand.name) ? { ...demand, isOptional: true } : demand,
  );
}

/** Drops the tools with these names from a list. */
export function dropTools(names: readonly string[], rules: ToolRules): ValueEdit {
  return (list) => {
    if (!list?.startsWith("[")) return list;
    return keepElements(list, (tool) => (isNamed(tool, names, rules) ? undefined : tool));
  };
}

/** Whether a tool, given as text, has one of these names. */
export function isNamed(tool: string, names: readonly string[], { date }: ToolRules): boolean {
  return names.includes(nameOf(tool, date));
}

/** Returns the name of a tool, given as text; "" for one without a type. */
function nameOf(tool: string, date: RegExp): string {
  const type = tool.startsWith("{") ? sliceMember(tool, "type") : undefined;
  return type?.startsWith('"') ? readText(JSON.parse(type)).replace(date, "") : "";
}

/** Throws `unpriced_field` for the first tool of a list that may have a fee: its calls have no bound there. */
function rejectDemands(tools: unknown, rules: ToolRules, path: string): void {
  for (const [position, tool] of readArray(tools).entries()) {
    if (isJsonObject(tool)) rejectDemand(tool, rules, `${path}[${position}]`);
  }
}

/** Throws `unpriced_field` for a tool that may have a fee. */
export function rejectDemand(tool: JsonObject, rules: ToolRules, path: string): void {
  const demand = readDemand(tool, rules, path);
  if (demand && !demand.isFree) rejectUnpricedField(demand.path);
}

function readDemand(tool: JsonObject, rules: ToolRules, path: string): ToolDemand | undefined {
  const { type } = tool;
  const miscased = findMiscased(tool, PRICED_MEMBERS);
  if (miscased !== undefined) reject(`${path}.${miscased}`);
  if (!isSet(type)) return undefined;
  if (typeof type !== "string") rejectUnpricedField(`${path}.type`);
  if (rules.free.has(type)) return undefined;
  const name = type.replace(rules.date, "");
  if (!NAME.test(name)) rejectUnpricedField(`${path}.type`);
  return rules.free.has(name) ? undefined : rules.readDemand(name, tool, path);
}

/** Reads the most calls that a request allows; `undefined` when omitted or null. Throws `wrong_shape`. */
export function readCallsMax(value: unknown, path: string, min: 0 | 1): number | undefined {
  if (!isSet(value)) return undefined;
  const isBound = typeof value === "number" && Number.isSafeInteger(value) && value >= min;
  return isBound && value <= TOOL_CALLS_MAX ? value : reject(path);
}

/**
 * Throws `unpriced_field` for a tool that repeats a member which decides what it costs: an upstream may read
 * another of the values than the one that was checked.
 */
export function rejectRepeatedMembers(text: string): void {
  let list: string | undefined;
  editMembers(text, { tools: (value) => (list = value) });
  if (!list?.startsWith("[")) return;
  editElements(list, (tool, position) => {
    if (tool.startsWith("{") && repeats(tool)) rejectUnpricedField(`tools[${position}].type`);
    return tool;
  });
}

const SENT_ONCE: Edits = Object.fromEntries([...PRICED_MEMBERS].map((name) => [name, once]));

function repeats(tool: string): boolean {
  return editMembers(tool, SENT_ONCE).length !== tool.length;
}
