import type { Part, ToolResultPart, Turn } from "../../domain/chat-request.ts";
import { PARAGRAPH, printContent } from "./print-content.ts";

/** Stands for a result that is no text: tools of this format give back nothing else. */
const SHOWN_BELOW = "The result is in the next message.";

/** The conversation as messages. Results of tools stand right behind the calls that they belong to. */
export function printTurns(turns: readonly Turn[]): readonly object[] {
  return runsOf(turns).flatMap((run, position) => {
    if (run[0]?.role === "user") return printUserRun(run);
    if (run[0]?.role === "assistant") return groupCallers(run).map(printAssistant);
    return position === 0 ? [printSystem(run)] : run.map((turn) => printSystem([turn]));
  });
}

/** Turns of one role that follow each other. */
function runsOf(turns: readonly Turn[]): readonly (readonly Turn[])[] {
  const runs: Turn[][] = [];
  for (const turn of turns) {
    const last = runs.at(-1);
    if (last?.[0]?.role === turn.role) last.push(turn);
    else runs.push([turn]);
  }
  return runs;
}

function printSystem(turns: readonly Turn[]): object {
  return { role: "system", content: textsOf(partsOf(turns)).join(PARAGRAPH) };
}

function printUserRun(turns: readonly Turn[]): readonly object[] {
  const results = partsOf(turns).filter(isResult).map(printResult);
  const others = turns
    .map(({ parts }) => ({ role: "user", parts: parts.flatMap(userPartsOf), isEmpty: parts.length === 0 }))
    .filter(({ parts, isEmpty }) => isEmpty || parts.length > 0);
  return [...results, ...others.map(({ role, parts }) => ({ role, content: printContent(parts) }))];
}

/** What of a part a user's message can hold: of a tool's result, all but its text. */
function userPartsOf(part: Part): readonly Part[] {
  return part.kind === "tool_result" ? part.parts.filter(({ kind }) => kind !== "text") : [part];
}

function printResult({ callId, parts, isError }: ToolResultPart): object {
  const text = textsOf(parts).join(PARAGRAPH);
  const content = text === "" && parts.length > 0 ? SHOWN_BELOW : text;
  return { role: "tool", tool_call_id: callId, content: isError ? `Error: ${content}` : content };
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

/** Reasoning stays out: hosts of this format have none of another's. */
function printAssistant(parts: readonly Part[]): object {
  const text = textsOf(parts).join("");
  const calls = parts
    .filter((part) => part.kind === "tool_call")
    .map(({ id, name, input }) => ({ id, type: "function", function: { name, arguments: input } }));
  if (calls.length === 0) return { role: "assistant", content: text };
  return { role: "assistant", content: text === "" ? null : text, tool_calls: calls };
}

function partsOf(turns: readonly Turn[]): readonly Part[] {
  return turns.flatMap(({ parts }) => parts);
}

function textsOf(parts: readonly Part[]): readonly string[] {
  return parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
}

function isResult(part: Part): part is ToolResultPart {
  return part.kind === "tool_result";
}
