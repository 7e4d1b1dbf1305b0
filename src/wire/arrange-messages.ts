import type {
  CacheMark,
  ChatRequest,
  DocumentPart,
  ImagePart,
  Part,
  ReasoningPart,
  TextPart,
  Turn,
} from "../domain/chat-request.ts";

/** One message of a conversation in which user and assistant alternate and the user begins. */
export interface Message {
  readonly role: "user" | "assistant";
  readonly parts: readonly Part[];
}

/** A conversation in the order that strict hosts accept. */
interface Conversation {
  readonly system: readonly TextPart[];
  readonly messages: readonly Message[];
}

/** User message that begins a conversation without one. */
const OPENING: TextPart = { kind: "text", text: "Please begin.", cache: undefined };
/** User message in place of an empty last one. Without it, the model would extend its last answer. */
const CONTINUATION: TextPart = { kind: "text", text: "Please go on.", cache: undefined };

/**
 * Arranges turns for hosts whose messages must alternate, as Anthropic's and Bedrock's. Leading system turns
 * become the system prompt, and later ones become user messages in their place. Tool results come first in a
 * message. Drops blank texts, and reasoning for which `keepsReasoning` returns false.
 */
export function arrangeMessages(
  turns: readonly Turn[],
  { keepsReasoning }: { keepsReasoning(part: ReasoningPart): boolean },
): Conversation {
  const isAccepted = (part: Part) => (part.kind === "reasoning" ? keepsReasoning(part) : !isBlank(part));
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

/** Trims an answer that the model shall continue, because hosts reject trailing white space in it. */
function trimEnd(messages: readonly Message[]): readonly Message[] {
  const last = messages.at(-1);
  const part = last?.parts.at(-1);
  if (last?.role !== "assistant" || part?.kind !== "text") return messages;
  const trimmed: TextPart = { ...part, text: part.text.trimEnd() };
  return [...messages.slice(0, -1), { ...last, parts: [...last.parts.slice(0, -1), trimmed] }];
}

/** Returns whether a part is a text without a visible character. */
export function isBlank(part: Part): boolean {
  return part.kind === "text" && !/\S/.test(part.text);
}

function isText(part: Part): part is TextPart {
  return part.kind === "text";
}

function isResult({ kind }: Part): boolean {
  return kind === "tool_result";
}

/**
 * Marks the last part of a conversation for hosts whose cache marks must have a place. A part that cannot carry
 * a mark stays as it is.
 */
export function markEnd(messages: readonly Message[], cache: CacheMark | undefined): readonly Message[] {
  const last = messages.at(-1);
  const part = last?.parts.at(-1);
  if (!cache || !last || !part || part.kind === "reasoning") return messages;
  const marked = { ...last, parts: [...last.parts.slice(0, -1), { ...part, cache: part.cache ?? cache }] };
  return [...messages.slice(0, -1), marked];
}

/** Returns the names of the tools that a conversation has called, each once. */
export function listCalledTools(turns: readonly Turn[]): readonly string[] {
  const names = turns.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.kind === "tool_call" ? [part.name] : [])),
  );
  return [...new Set(names)];
}

/** A part of a message or of a tool result that holds a file. */
export type Media = ImagePart | DocumentPart;

/**
 * Returns the path of the first image or document that `isAccepted` rejects, in messages and tool results;
 * `undefined` if all are accepted.
 */
export function findRejectedMedia(
  { turns }: ChatRequest,
  isAccepted: (media: Media, role: Turn["role"]) => boolean,
): string | undefined {
  for (const { role, parts } of turns) {
    const rejected = parts.flatMap(mediaIn).find((media) => !isAccepted(media, role));
    if (rejected) return rejected.path;
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
