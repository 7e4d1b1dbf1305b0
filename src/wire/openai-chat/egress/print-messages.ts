import type { Part, TextPart, ToolResultPart, Turn } from "../../../domain/chat-request.ts";
import { type ContentOptions, PARAGRAPH, printContent } from "./print-content.ts";
import { type Host, printHostState } from "./print-reasoning.ts";

/** How turns are printed for a host. */
interface TurnOptions extends ContentOptions, Host {}

/** Stands for a result that is no text: tools of this format give back nothing else. */
const SHOWN_BELOW = "The result is in the next message.";

/** The conversation as messages. Results of tools stand right behind the calls that they belong to. */
export function printTurns(turns: readonly Turn[], options: TurnOptions): readonly object[] {
  return runsOf(turns).flatMap((run, position) => {
    if (isAssistant(run[0])) return groupCallers(run).map((parts) => printAssistant(parts, options));
    const leading = position === 0 ? leadingSystemOf(run) : [];
    const rest = run.slice(leading.length);
    return [
      ...(leading.length > 0 ? [printSystem(leading, options)] : []),
      ...partsOf(rest)
        .filter(isResult)
        .map((result) => printResult(result, options)),
      ...rest.flatMap((turn) => printWords(turn, options)),
    ];
  });
}

/** Turns of the assistant that follow each other, and what everybody else says between them. */
function runsOf(turns: readonly Turn[]): readonly (readonly Turn[])[] {
  const runs: Turn[][] = [];
  for (const turn of turns) {
    const last = runs.at(-1);
    if (last && isAssistant(last[0]) === isAssistant(turn)) last.push(turn);
    else runs.push([turn]);
  }
  return runs;
}

function leadingSystemOf(turns: readonly Turn[]): readonly Turn[] {
  const end = turns.findIndex(({ role }) => role !== "system");
  return end < 0 ? turns : turns.slice(0, end);
}

function printSystem(turns: readonly Turn[], options: TurnOptions): object {
  return { role: "system", content: printContent(partsOf(turns).filter(isText), options) };
}

/** What is said beside results: nothing where a turn held nothing but texts of those. */
function printWords(turn: Turn, options: TurnOptions): readonly object[] {
  if (turn.role === "system") return [printSystem([turn], options)];
  const parts = turn.parts.flatMap(userPartsOf);
  if (parts.length === 0 && turn.parts.length > 0) return [];
  return [{ role: "user", content: printContent(parts, options) }];
}

/** What of a part a user's message can hold: of a tool's result, all but its text. */
function userPartsOf(part: Part): readonly Part[] {
  return part.kind === "tool_result" ? part.parts.filter((each) => !isText(each)) : [part];
}

/** A result is one text, with one mark at most. */
function printResult({ callId, parts, isError, cache }: ToolResultPart, options: TurnOptions): object {
  const texts = parts.filter(isText);
  const said = texts.map(({ text }) => text).join(PARAGRAPH);
  const content = said === "" && texts.length < parts.length ? SHOWN_BELOW : said;
  const part: TextPart = {
    kind: "text",
    text: isError ? `Error: ${content}` : content,
    cache: cache ?? texts.findLast((text) => text.cache)?.cache,
  };
  return { role: "tool", tool_call_id: callId, content: printContent([part], options) };
}

/** Calls and what their assistant said behind them make one message, or their results would stand too late. */
function groupCallers(turns: readonly Turn[]): readonly (readonly Part[])[] {
  const groups: Part[][] = [];
  let calls = false;
  for (const { parts } of turns) {
    const last = groups.at(-1);
    if (last && calls) for (const part of parts) last.push(part);
    else groups.push([...parts]);
    calls ||= parts.some(({ kind }) => kind === "tool_call");
  }
  return groups;
}

/** Reasoning stays out but for what this host signed: it has none of another's. */
function printAssistant(parts: readonly Part[], options: TurnOptions): object {
  const content = printContent(parts.filter(isText), options, "");
  const { members, membersOf } = printHostState(parts, options);
  const calls = parts.filter((part) => part.kind === "tool_call");
  if (calls.length === 0) return { role: "assistant", content, ...members };
  return {
    role: "assistant",
    content: content === "" ? null : content,
    ...members,
    tool_calls: calls.map((call) => ({
      id: call.id,
      type: "function",
      function: { name: call.name, arguments: call.input },
      ...membersOf(call),
    })),
  };
}

function partsOf(turns: readonly Turn[]): readonly Part[] {
  return turns.flatMap(({ parts }) => parts);
}

function isAssistant(turn: Turn | undefined): boolean {
  return turn?.role === "assistant";
}

function isText(part: Part): part is TextPart {
  return part.kind === "text";
}

function isResult(part: Part): part is ToolResultPart {
  return part.kind === "tool_result";
}
