import type { Part, ReasoningPart, TextPart, Turn } from "../../../domain/chat-request.ts";
import { isHostSeal } from "../../host-seal.ts";

/** One message as Anthropic counts them: the speakers take turns, and a user begins. */
export interface Message {
  readonly role: "user" | "assistant";
  readonly parts: readonly Part[];
}

/** A conversation that Anthropic takes. */
interface Arranged {
  readonly system: readonly TextPart[];
  readonly messages: readonly Message[];
}

/** What is said where a model has nobody to answer. */
const OPENING: TextPart = { kind: "text", text: "Please begin.", cache: undefined };
/** What a user says who has said nothing: without it the model would go on with its own last answer. */
const GOING_ON: TextPart = { kind: "text", text: "Please go on.", cache: undefined };

/**
 * Puts turns in the order that Anthropic insists on. Leading system turns become the system prompt, later
 * ones are said by the user in their place; what tools gave back comes first; blank texts and reasoning that
 * nobody sealed are left out.
 */
export function arrangeTurns(
  turns: readonly Turn[],
  { keepsReasoning }: { readonly keepsReasoning: boolean },
): Arranged {
  const isSayable = (part: Part) =>
    part.kind === "reasoning" ? keepsReasoning && isSealed(part) : !isBlank(part);
  const first = turns.findIndex(({ role }) => role !== "system");
  const leading = first < 0 ? turns : turns.slice(0, first);
  const begun = beginWithUser(mergeTurns(first < 0 ? [] : turns.slice(first), isSayable));
  return {
    system: leading.flatMap(({ parts }) => parts.filter(isText)).filter((part) => !isBlank(part)),
    messages: turns.at(-1)?.role === "assistant" ? trimEnd(begun) : endWithUser(begun),
  };
}

function mergeTurns(turns: readonly Turn[], isSayable: (part: Part) => boolean): readonly Message[] {
  const messages: { role: Message["role"]; parts: Part[] }[] = [];
  for (const turn of turns) {
    const role = turn.role === "assistant" ? "assistant" : "user";
    const parts = turn.parts.filter(isSayable);
    const last = messages.at(-1);
    if (last?.role === role) for (const part of parts) last.parts.push(part);
    else if (parts.length > 0) messages.push({ role, parts });
  }
  return messages.map(({ role, parts }) => ({ role, parts: role === "user" ? resultsFirst(parts) : parts }));
}

function resultsFirst(parts: readonly Part[]): readonly Part[] {
  if (!parts.some(isResult)) return parts;
  return [...parts.filter(isResult), ...parts.filter((part) => !isResult(part))];
}

function beginWithUser(messages: readonly Message[]): readonly Message[] {
  return messages[0]?.role === "user" ? messages : [{ role: "user", parts: [OPENING] }, ...messages];
}

function endWithUser(messages: readonly Message[]): readonly Message[] {
  return messages.at(-1)?.role === "user" ? messages : [...messages, { role: "user", parts: [GOING_ON] }];
}

/** An answer that shall be continued may not end in white space. */
function trimEnd(messages: readonly Message[]): readonly Message[] {
  const last = messages.at(-1);
  const part = last?.parts.at(-1);
  if (last?.role !== "assistant" || part?.kind !== "text") return messages;
  const trimmed: TextPart = { ...part, text: part.text.trimEnd() };
  return [...messages.slice(0, -1), { ...last, parts: [...last.parts.slice(0, -1), trimmed] }];
}

function isBlank(part: Part): boolean {
  return part.kind === "text" && !/\S/.test(part.text);
}

/** Whether Anthropic sealed it: what a host of chat completions did, is nobody else's to read. */
function isSealed({ signature = "", redacted }: ReasoningPart): boolean {
  return redacted === undefined ? signature !== "" && !isHostSeal(signature) : !isHostSeal(redacted);
}

function isText(part: Part): part is TextPart {
  return part.kind === "text";
}

function isResult({ kind }: Part): boolean {
  return kind === "tool_result";
}
