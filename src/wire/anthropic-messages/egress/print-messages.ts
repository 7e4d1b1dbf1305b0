import type {
  ChatRequest,
  DocumentPart,
  ImagePart,
  Part,
  ReasoningPart,
  ResultPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from "../../../domain/chat-request.ts";
import { isHostReasoning } from "../../host-reasoning.ts";
import { printCacheMark } from "../../request-fields.ts";
import { joinElements, joinMembers, printMembers } from "../json-members.ts";

/** One message as Anthropic accepts it: user and assistant alternate, and the user begins. */
export interface Message {
  readonly role: "user" | "assistant";
  readonly parts: readonly Part[];
}

/** A conversation in the order that Anthropic accepts. */
interface Conversation {
  readonly system: readonly TextPart[];
  readonly messages: readonly Message[];
}

/** User message that begins a conversation without one. */
const OPENING: TextPart = { kind: "text", text: "Please begin.", cache: undefined };
/** User message in place of an empty last one. Without it, the model would extend its last answer. */
const CONTINUATION: TextPart = { kind: "text", text: "Please go on.", cache: undefined };

/**
 * Arranges turns as Anthropic requires. Leading system turns become the system prompt, and later ones become
 * user messages in their place. Tool results come first in a message. Drops blank texts and reasoning that
 * Anthropic did not sign, or all reasoning unless `keepsReasoning`.
 */
export function arrangeMessages(
  turns: readonly Turn[],
  { keepsReasoning }: { readonly keepsReasoning: boolean },
): Conversation {
  const isAccepted = (part: Part) =>
    part.kind === "reasoning" ? keepsReasoning && isSignedByAnthropic(part) : !isBlank(part);
  const first = turns.findIndex(({ role }) => role !== "system");
  const leading = first < 0 ? turns : turns.slice(0, first);
  const messages = beginWithUser(mergeTurns(first < 0 ? [] : turns.slice(first), isAccepted));
  return {
    system: leading.flatMap(({ parts }) => parts.filter(isText)).filter((part) => !isBlank(part)),
    messages: turns.at(-1)?.role === "assistant" ? trimEnd(messages) : endWithUser(messages),
  };
}

function mergeTurns(turns: readonly Turn[], isAccepted: (part: Part) => boolean): readonly Message[] {
  const messages: { role: Message["role"]; parts: Part[] }[] = [];
  for (const turn of turns) {
    const role = turn.role === "assistant" ? "assistant" : "user";
    const parts = turn.parts.filter(isAccepted);
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
  return messages.at(-1)?.role === "user" ? messages : [...messages, { role: "user", parts: [CONTINUATION] }];
}

/** Trims an answer that the model shall continue, because Anthropic rejects trailing white space in it. */
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

/**
 * Whether the signature is Anthropic's. Only the chat completions host that signed its reasoning can read it.
 */
function isSignedByAnthropic({ signature = "", redacted }: ReasoningPart): boolean {
  return redacted === undefined
    ? signature !== "" && !isHostReasoning(signature)
    : !isHostReasoning(redacted);
}

function isText(part: Part): part is TextPart {
  return part.kind === "text";
}

function isResult({ kind }: Part): boolean {
  return kind === "tool_result";
}

/** Prints one arranged message as JSON. */
export function printMessage({ role, parts }: Message): string {
  return joinMembers({ role: JSON.stringify(role), content: printParts(parts) });
}

/** Prints parts as a JSON array of content blocks. */
export function printParts(parts: readonly Part[]): string {
  return joinElements(parts.map(printPart));
}

function printPart(part: Part): string {
  switch (part.kind) {
    case "tool_call":
      return printCall(part);
    case "tool_result":
      return JSON.stringify(resultBlock(part));
    case "reasoning":
      return JSON.stringify(thinkingBlock(part));
    default:
      return JSON.stringify(contentBlock(part));
  }
}

/** Prints the input as the client wrote it, because parsing would round long numbers. */
function printCall({ id, name, input, cache }: ToolCallPart): string {
  return joinMembers({ ...printMembers({ type: "tool_use", id, name, ...printCacheMark(cache) }), input });
}

function resultBlock({ callId, parts, isError, cache }: ToolResultPart) {
  const content = parts.filter((part) => !isBlank(part));
  const [only] = content;
  const isPlainText = content.length === 1 && only?.kind === "text" && !only.cache;
  return {
    type: "tool_result",
    tool_use_id: callId,
    ...(content.length > 0 && { content: isPlainText ? only.text : content.map(contentBlock) }),
    ...(isError && { is_error: true }),
    ...printCacheMark(cache),
  };
}

function thinkingBlock({ text, signature, redacted }: ReasoningPart) {
  return redacted === undefined
    ? { type: "thinking", thinking: text, signature }
    : { type: "redacted_thinking", data: redacted };
}

function contentBlock(part: ResultPart) {
  if (part.kind === "text") return { type: "text", text: part.text, ...printCacheMark(part.cache) };
  const title = part.kind === "document" ? part.name : undefined;
  return { type: part.kind, source: sourceOf(part), title, ...printCacheMark(part.cache) };
}

function sourceOf({ source }: Media) {
  if (source.kind === "url") return { type: "url", url: source.url };
  if (source.kind === "text") return { type: "text", media_type: "text/plain", data: source.text };
  return { type: "base64", media_type: source.mediaType, data: source.data };
}

type Media = ImagePart | DocumentPart;

const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const DOCUMENT_TYPES = ["application/pdf"];

/**
 * Returns the path of the first image or document that Anthropic rejects, or `undefined`. Anthropic accepts
 * some media types, in user messages only.
 */
export function findUntranslatable({ turns }: ChatRequest): string | undefined {
  for (const { role, parts } of turns) {
    const part = parts.flatMap(mediaIn).find((media) => !isAcceptedMedia(media, role));
    if (part) return part.path;
  }
  return undefined;
}

function mediaIn(part: Part): readonly Media[] {
  if (part.kind === "tool_result") return part.parts.filter(isMedia);
  return isMedia(part) ? [part] : [];
}

function isMedia(part: Part): part is Media {
  return part.kind === "image" || part.kind === "document";
}

function isAcceptedMedia({ kind, source }: Media, role: Turn["role"]): boolean {
  if (role !== "user") return false;
  if (source.kind !== "inline") return true;
  return (kind === "image" ? IMAGE_TYPES : DOCUMENT_TYPES).includes(source.mediaType);
}
