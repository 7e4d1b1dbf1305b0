import type {
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
import { isTooDeep, type ValueBudget } from "../../json/bounds.ts";
import { isJsonObject, isSet, type JsonObject, readText } from "../../json/read.ts";
import { reject, rejectUntranslatable, requireName } from "../../request-body.ts";
import {
  type CallArguments,
  decodeTextSource,
  inlineSource,
  readCacheMark,
  readCallArguments,
  readFileData,
  readMediaUrl,
} from "../../request-fields.ts";
import { readPlainReasoning, textOfPart } from "../chunk.ts";
import { joinReasoningDetails } from "../reasoning.ts";
import { readOptionalText, requireObject, requireText } from "./read-member.ts";

/** Facts of the whole conversation that reading one tool call needs. */
interface History {
  /** Ids of the calls that have a result. */
  readonly answered: ReadonlySet<unknown>;
  readonly budget: ValueBudget;
}

/** Reads the messages as turns. Consecutive tool results become one user turn. */
export function readTurns(messages: readonly JsonObject[], budget: ValueBudget): readonly Turn[] {
  const turns: Turn[] = [];
  const answered = new Set(messages.map(({ role, tool_call_id: id }) => role === "tool" && id));
  const history: History = { answered, budget };
  /** The parts of the user turn that receives further results. */
  let results: ToolResultPart[] | undefined;

  for (const [position, message] of messages.entries()) {
    const path = `messages[${position}]`;
    if (message.role === "tool") {
      if (results === undefined) {
        results = [];
        turns.push({ role: "user", parts: results });
      }
      results.push(readResult(message, path));
    } else {
      results = undefined;
      turns.push(readTurn(message, path, history));
    }
  }
  return turns;
}

function readTurn(message: JsonObject, path: string, history: History): Turn {
  const contentPath = `${path}.content`;
  switch (message.role) {
    case "system":
    case "developer":
      return { role: "system", parts: readParts(message.content, contentPath, SYSTEM_READERS) };
    case "user":
      return { role: "user", parts: readParts(message.content, contentPath, MEDIA_READERS) };
    case "assistant":
      if (isSet(message.audio)) rejectUntranslatable(`${path}.audio`);
      return {
        role: "assistant",
        parts: [...readAssistantParts(message, contentPath), ...readCalls(message, path, history)],
      };
    default:
      return rejectUntranslatable(`${path}.role`);
  }
}

function readAssistantParts(message: JsonObject, contentPath: string): readonly Part[] {
  const content = readParts(message.content, contentPath, ASSISTANT_READERS);
  return [...readReasoning(message), ...content, ...textParts(readText(message.refusal))];
}

/** Reads reasoning with its signatures if the client kept them, else as plain text. */
function readReasoning(message: JsonObject): readonly ReasoningPart[] {
  const signed = joinReasoningDetails(message.reasoning_details);
  const text = readPlainReasoning(message);
  if (signed.length > 0 || text === "") return signed;
  return [{ kind: "reasoning", text, signature: undefined, redacted: undefined }];
}

function readResult(message: JsonObject, path: string): ToolResultPart {
  const callId = requireText(message, "tool_call_id", path);
  const parts = readParts(message.content, `${path}.content`, MEDIA_READERS);
  return { kind: "tool_result", callId, parts, isError: false, cache: undefined };
}

/**
 * Reads the tool calls of an assistant message. Throws `untranslatable` for the deprecated `function_call`.
 */
function readCalls(message: JsonObject, path: string, history: History): readonly ToolCallPart[] {
  const { tool_calls: calls, function_call: functionCall } = message;
  if (isSet(functionCall)) rejectUntranslatable(`${path}.function_call`);
  if (!isSet(calls)) return [];
  if (!Array.isArray(calls)) reject(`${path}.tool_calls`);
  return calls.map((call: unknown, index) => readCall(call, `${path}.tool_calls[${index}]`, history));
}

function readCall(call: unknown, path: string, { answered, budget }: History): ToolCallPart {
  if (!isJsonObject(call)) reject(path);
  if (isSet(call.type) && call.type !== "function") rejectUntranslatable(`${path}.type`);
  const { name, arguments: value } = requireObject(call, "function", path);
  const id = requireText(call, "id", path);
  const argumentsPath = `${path}.function.arguments`;
  return {
    kind: "tool_call",
    id,
    name: requireName(name, `${path}.function.name`),
    input: readArguments({ value, path: argumentsPath, isAnswered: answered.has(id) }, budget),
    cache: undefined,
  };
}

/** Reads arguments, a text of JSON; some clients send the object itself. */
function readArguments(args: CallArguments, budget: ValueBudget): string {
  const { value, path } = args;
  if (isJsonObject(value)) return isTooDeep(value) ? reject(path) : JSON.stringify(value);
  return readCallArguments(args, budget);
}

type PartReader<Kind> = (part: JsonObject, path: string) => Kind;

/**
 * Reads a content: a string, or parts whose types have a reader. Drops empty texts, which Anthropic rejects.
 */
function readParts<Kind extends Part>(
  content: unknown,
  path: string,
  readers: ReadonlyMap<string, PartReader<Kind>>,
): readonly (Kind | TextPart)[] {
  if (!isSet(content)) return [];
  if (typeof content === "string") return textParts(content);
  if (!Array.isArray(content)) reject(path);
  return content
    .map((part: unknown, position) => readPart(part, `${path}[${position}]`, readers))
    .filter((part) => part.kind !== "text" || part.text !== "");
}

function readPart<Kind>(part: unknown, path: string, readers: ReadonlyMap<string, PartReader<Kind>>): Kind {
  if (!isJsonObject(part) || typeof part.type !== "string") reject(path);
  const read = readers.get(part.type) ?? rejectUntranslatable(`${path}.type`);
  return read(part, path);
}

function textParts(text: string): readonly TextPart[] {
  return text === "" ? [] : [{ kind: "text", text, cache: undefined }];
}

const readTextPart = (part: JsonObject, path: string): TextPart => ({
  kind: "text",
  text: typeof part.text === "string" ? part.text : reject(`${path}.text`),
  cache: readCacheMark(part),
});

const readRefusal = (part: JsonObject, path: string): TextPart => ({
  kind: "text",
  text: typeof part.refusal === "string" ? part.refusal : reject(`${path}.refusal`),
  cache: undefined,
});

const readThinking = (part: JsonObject): ReasoningPart => ({
  kind: "reasoning",
  text: textOfPart(part),
  signature: undefined,
  redacted: undefined,
});

const SYSTEM_READERS = new Map([["text", readTextPart]]);
const MEDIA_READERS = new Map<string, PartReader<ResultPart>>([
  ["text", readTextPart],
  ["image_url", readImage],
  ["file", readFile],
  ["input_audio", readAudio],
]);
const ASSISTANT_READERS = new Map<string, PartReader<TextPart | ReasoningPart>>([
  ["text", readTextPart],
  ["refusal", readRefusal],
  ["thinking", readThinking],
]);

/** Reads an `image_url` part; some clients send the URL without an object around it. */
function readImage(part: JsonObject, path: string): ImagePart {
  const image = typeof part.image_url === "string" ? { url: part.image_url } : part.image_url;
  const imagePath = `${path}.image_url`;
  const { url, detail } = isJsonObject(image) ? image : requireObject(part, "image_url", path);
  return {
    kind: "image",
    source: readMediaUrl(requireText({ url }, "url", imagePath)) ?? rejectUntranslatable(`${imagePath}.url`),
    detail: readOptionalText({ detail }, "detail", imagePath),
    cache: readCacheMark(part),
    path,
  };
}

const AUDIO_FORMAT = /^\w{1,16}$/;

/** Reads an `input_audio` part, whose format is "wav" or "mp3" at OpenAI. */
function readAudio(part: JsonObject, path: string): DocumentPart {
  const audioPath = `${path}.input_audio`;
  const audio = requireObject(part, "input_audio", path);
  const format = requireText(audio, "format", audioPath);
  if (!AUDIO_FORMAT.test(format)) reject(`${audioPath}.format`);
  const source = inlineSource(`audio/${format}`, requireText(audio, "data", audioPath));
  return { kind: "document", source, name: undefined, cache: undefined, path };
}

/** Reads a `file` part: a data: URL, a web URL, or bare base64 of a PDF or a named text file. */
function readFile(part: JsonObject, path: string): DocumentPart | ImagePart {
  const filePath = `${path}.file`;
  const file = requireObject(part, "file", path);
  if (!isSet(file.file_data) && isSet(file.file_id)) rejectUntranslatable(`${filePath}.file_id`);
  const name = readOptionalText(file, "filename", filePath) || undefined;
  const data = requireText(file, "file_data", filePath);
  const source = readFileData(data, name) ?? rejectUntranslatable(`${filePath}.file_data`);
  const cache = readCacheMark(part);
  if (source.kind === "inline" && source.mediaType.startsWith("image/")) {
    return { kind: "image", source, detail: undefined, cache, path };
  }
  return { kind: "document", source: decodeTextSource(source), name, cache, path };
}
