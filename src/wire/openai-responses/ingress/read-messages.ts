import type {
  Part,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from "../../../domain/chat-request.ts";
import { readCallArguments } from "../../call-arguments.ts";
import { isJsonObject, isSet, type JsonObject, readArray, readText } from "../../json/read.ts";
import type { ValueBudget } from "../../json/value-budget.ts";
import { refuse, refuseUntranslatable, requireName } from "../../request-body.ts";
import { readSeal } from "../encrypted-reasoning.ts";
import { isMessage } from "../items.ts";
import { readParts, readTexts, textPart } from "./read-parts.ts";
import { joinName } from "./read-tools.ts";

type Role = Turn["role"];
/** What must be known of the whole input to read one of its items. */
interface History {
  /** Ids of calls whose results are in it. */
  readonly answered: ReadonlySet<unknown>;
  readonly budget: ValueBudget;
}

type Said = readonly [role: Role, parts: readonly Part[]];

/** Items that tell of what ran at another provider; nobody else can go on with them. */
const DROPPED =
  /^((web_search|file_search|code_interpreter|image_generation|mcp)_call|mcp_list_tools|additional_tools)$/;

/** The turns of a body: its instructions first, then its items in order, one turn for neighbours of one speaker. */
export function readTurns(
  { instructions, input }: JsonObject,
  items: readonly JsonObject[],
  budget: ValueBudget,
): readonly Turn[] {
  const turns = createTurns();
  if (typeof instructions === "string") turns.add("system", [textPart(instructions)]);
  if (typeof input === "string") turns.add("user", [textPart(input)]);
  const answered = new Set(items.filter(isResult).map(({ call_id }) => call_id));
  for (const [position, item] of items.entries()) {
    const [role, parts] = readItem(item, `input[${position}]`, { answered, budget });
    turns.add(role, parts);
  }
  if (turns.all.length === 0) refuse("input");
  return turns.all;
}

function createTurns() {
  const all: { readonly role: Role; readonly parts: Part[] }[] = [];
  return {
    all: all as readonly Turn[],
    add(role: Role, parts: readonly Part[]): void {
      if (parts.length === 0) return;
      const last = all.at(-1);
      if (last?.role !== role) all.push({ role, parts: [...parts] });
      else for (const part of parts) last.parts.push(part);
    },
  };
}

function readItem(item: JsonObject, path: string, history: History): Said {
  if (isMessage(item)) return readMessage(item, path);
  if (isResult(item)) return ["user", [readResult(item, path)]];
  switch (item.type) {
    case "function_call":
      return ["assistant", [readCall(item, path, readArguments(item, path, history))]];
    case "custom_tool_call":
      return ["assistant", [readCall(item, path, readFreeInput(item, path))]];
    case "reasoning":
      return ["assistant", readReasoning(item)];
    case "agent_message":
      return ["user", readAgentMessage(item, path)];
    default:
      if (DROPPED.test(readText(item.type))) return ["assistant", []];
      return refuseUntranslatable(path);
  }
}

function readMessage({ role, content }: JsonObject, path: string): Said {
  const place = `${path}.content`;
  if (role === "user") return [role, readParts(content, place)];
  if (role === "assistant") return [role, readTexts(content, place)];
  if (role === "system" || role === "developer") return ["system", readTexts(content, place)];
  return refuse(`${path}.role`);
}

/** What one of Codex's agents says to another. What it calls encrypted is the text that the model gave, here. */
function readAgentMessage({ content }: JsonObject, path: string): readonly Part[] {
  const said = readArray(content).map((part) =>
    isJsonObject(part) && part.type === "encrypted_content"
      ? { type: "input_text", text: part.encrypted_content }
      : part,
  );
  return readTexts(said, `${path}.content`);
}

function readCall(item: JsonObject, path: string, input: string): ToolCallPart {
  const place = `${path}.name`;
  return {
    kind: "tool_call",
    id: requireCallId(item, path),
    name: joinName(item.namespace, requireName(item.name, place), place),
    input,
    cache: undefined,
  };
}

function readArguments(item: JsonObject, path: string, { answered, budget }: History): string {
  const { arguments: said, call_id: callId } = item;
  return readCallArguments({ said, path: `${path}.arguments`, isAnswered: answered.has(callId) }, budget);
}

function readFreeInput({ input }: JsonObject, path: string): string {
  if (typeof input !== "string") refuse(`${path}.input`);
  return JSON.stringify({ input });
}

function isResult({ type }: JsonObject): boolean {
  return type === "function_call_output" || type === "custom_tool_call_output";
}

function readResult(item: JsonObject, path: string): ToolResultPart {
  const { output } = item;
  if (isSet(output) && typeof output !== "string" && !Array.isArray(output)) refuse(`${path}.output`);
  return {
    kind: "tool_result",
    callId: requireCallId(item, path),
    parts: readParts(output ?? "", `${path}.output`),
    isError: false,
    cache: undefined,
  };
}

/** Only what was sealed here can be read: the rest is another provider's. */
function readReasoning(item: JsonObject): readonly ReasoningPart[] {
  const reasoning = readSeal(item.encrypted_content);
  return reasoning ? [reasoning] : [];
}

function requireCallId(item: JsonObject, path: string): string {
  const id = readText(item.call_id);
  if (id === "") refuse(`${path}.call_id`);
  return id;
}
