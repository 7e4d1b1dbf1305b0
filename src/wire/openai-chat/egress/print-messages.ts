import type {
  DocumentPart,
  ImagePart,
  InlineSource,
  Part,
  TextPart,
  ToolResultPart,
  Turn,
} from "../../../domain/chat-request.ts";
import { printCacheMark } from "../../request-fields.ts";
import { type Host, printHostState } from "../reasoning.ts";

/** How messages are printed for a host. */
interface MessageOptions extends Host {
  /** Whether the host accepts Anthropic's cache marks, as hosts of its models do. */
  readonly keepsCacheMarks: boolean;
}

/** Joins texts that the client sent separately and a message contains as one. */
const PARAGRAPH = "\n\n";
/** The text of a tool result without text: tool messages of this format contain nothing else. */
const RESULT_IN_NEXT_MESSAGE = "The result is in the next message.";

/** Prints the turns as messages. Tool results directly follow the calls that they belong to. */
export function printMessages(turns: readonly Turn[], options: MessageOptions): readonly object[] {
  return runsOf(turns).flatMap((run, position) => {
    if (isAssistant(run[0])) return groupCallers(run).map((parts) => printAssistant(parts, options));
    const leading = position === 0 ? leadingSystemOf(run) : [];
    const rest = run.slice(leading.length);
    return [
      ...(leading.length > 0 ? [printSystem(leading, options)] : []),
      ...partsOf(rest)
        .filter(isResult)
        .map((result) => printResult(result, options)),
      ...rest.flatMap((turn) => printOther(turn, options)),
    ];
  });
}

/** Splits the turns into runs of assistant turns and runs of all other turns. */
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

function printSystem(turns: readonly Turn[], options: MessageOptions): object {
  return { role: "system", content: printContent(partsOf(turns).filter(isText), options) };
}

/** Prints the message that follows tool results. Omitted when the turn had only text results. */
function printOther(turn: Turn, options: MessageOptions): readonly object[] {
  if (turn.role === "system") return [printSystem([turn], options)];
  const parts = turn.parts.flatMap(userPartsOf);
  if (parts.length === 0 && turn.parts.length > 0) return [];
  return [{ role: "user", content: printContent(parts, options) }];
}

/** Returns the parts for a user message: of a tool result, everything but its text. */
function userPartsOf(part: Part): readonly Part[] {
  return part.kind === "tool_result" ? part.parts.filter((each) => !isText(each)) : [part];
}

/** Prints a tool result as one text with at most one cache mark. */
function printResult({ callId, parts, isError, cache }: ToolResultPart, options: MessageOptions): object {
  const texts = parts.filter(isText);
  const joined = texts.map(({ text }) => text).join(PARAGRAPH);
  const content = joined === "" && texts.length < parts.length ? RESULT_IN_NEXT_MESSAGE : joined;
  const part: TextPart = {
    kind: "text",
    text: isError ? `Error: ${content}` : content,
    cache: cache ?? texts.findLast((text) => text.cache)?.cache,
  };
  return { role: "tool", tool_call_id: callId, content: printContent([part], options) };
}

/**
 * Groups the turns of a run into messages. Turns after a call join its message, so that its results follow.
 */
function groupCallers(turns: readonly Turn[]): readonly (readonly Part[])[] {
  const groups: Part[][] = [];
  let hasCalls = false;
  for (const { parts } of turns) {
    const last = groups.at(-1);
    if (last && hasCalls) for (const part of parts) last.push(part);
    else groups.push([...parts]);
    hasCalls ||= parts.some(({ kind }) => kind === "tool_call");
  }
  return groups;
}

/** Prints an assistant message. Drops reasoning, except the state that this host expects back. */
function printAssistant(parts: readonly Part[], options: MessageOptions): object {
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

/**
 * Prints a content: one string where possible, because not every host accepts an array, else an array of
 * parts. Texts of one string are joined by `separator`.
 */
function printContent(
  parts: readonly Part[],
  { keepsCacheMarks }: MessageOptions,
  separator = PARAGRAPH,
): string | readonly object[] {
  const printed = parts.flatMap((part) => (keepsCacheMarks ? printMarked(part) : printPart(part)));
  const texts = printed.flatMap((part) => (isPlainText(part) ? [part.text] : []));
  return texts.length === printed.length ? texts.join(separator) : printed;
}

type Printed =
  | PrintedText
  | { readonly type: "image_url"; readonly image_url: object }
  | { readonly type: "file"; readonly file: object };

interface PrintedText {
  readonly type: "text";
  readonly text: string;
  readonly cache_control?: object;
}

function isPlainText(part: Printed): part is PrintedText {
  return part.type === "text" && !("cache_control" in part);
}

/** Hosts accept cache marks on texts only, and reject one on an empty text. */
function printMarked(part: Part): readonly Printed[] {
  return part.kind === "text" && part.text !== "" ? [printText(part)] : printPart(part);
}

function printText({ text, cache }: TextPart): PrintedText {
  return { type: "text", text, ...printCacheMark(cache) };
}

function printPart(part: Part): readonly Printed[] {
  if (part.kind === "text") return [{ type: "text", text: part.text }];
  if (part.kind === "image") return [printImage(part)];
  return part.kind === "document" ? printDocument(part) : [];
}

function printImage({ source, detail }: ImagePart): Printed {
  const url = source.kind === "url" ? source.url : printDataUrl(source);
  return { type: "image_url", image_url: { url, detail } };
}

/** Prints a PDF as a file, the only type that hosts accept, and a text document as text. */
function printDocument({ source, name }: DocumentPart): readonly Printed[] {
  if (source.kind === "url") return [];
  const title = name === undefined ? "" : `${name}:\n`;
  if (source.kind === "text") return [{ type: "text", text: title + source.text }];
  return [{ type: "file", file: { filename: fileNameOf(name), file_data: printDataUrl(source) } }];
}

/** Adds the extension that a document title lacks: hosts recognise a file by its name. */
function fileNameOf(name = "document"): string {
  return /\.\w{1,5}$/.test(name) ? name : `${name}.pdf`;
}

function printDataUrl({ mediaType, data }: InlineSource): string {
  return `data:${mediaType};base64,${data}`;
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
