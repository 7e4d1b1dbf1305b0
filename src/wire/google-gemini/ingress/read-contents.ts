import type {
  Part,
  ReasoningPart,
  ResultPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from "../../../domain/chat-request.ts";
import { isTooDeep } from "../../json/bounds.ts";
import { isJsonObject, isSet, type JsonObject, readText } from "../../json/read.ts";
import { reject, rejectUntranslatable, requireName, requireText } from "../../request-body.ts";
import { decodeTextSource, inlineSource, readMediaUrl } from "../../request-fields.ts";
import { decodeReasoning } from "../carried-reasoning.ts";
import {
  CONTENT,
  FILE,
  FUNCTION_RESPONSE,
  join,
  type Members,
  PART,
  readerOf,
  readMember,
  readObjects,
} from "../names.ts";
import { type CallNames, createCallNames } from "./call-names.ts";

type PartMembers = ReturnType<(typeof PART)["read"]>;

/** Reads the system instruction and the contents. Throws `wrong_shape` or `untranslatable`. */
export function readContents({
  contents,
  systemInstruction,
}: Members<"contents" | "systemInstruction">): readonly Turn[] {
  const calls = createCallNames();
  const turns = [readSystem(systemInstruction)];
  for (const [position, content] of readObjects(contents, "contents").entries())
    turns.push(readContent(content, `contents[${position}]`, calls));
  const readable = turns.filter(({ parts }) => parts.length > 0);
  return readable.some(({ role }) => role !== "system") ? readable : reject("contents");
}

function readSystem(instruction: unknown): Turn {
  const path = "systemInstruction";
  const { parts } = CONTENT.read(readMember(instruction, path) ?? {}, path);
  const read = readObjects(parts, `${path}.parts`).flatMap((part, position) => {
    const place = `${path}.parts[${position}]`;
    const { text } = PART.read(part, place);
    return isSet(text) ? textParts(requireText(text, place)) : rejectUntranslatable(place);
  });
  return { role: "system", parts: read };
}

/** Roles of contents; a content without one is the user's. */
const ROLES = new Map<unknown, Turn["role"]>([
  [undefined, "user"],
  ["", "user"],
  ["user", "user"],
  ["function", "user"],
  ["tool", "user"],
  ["model", "assistant"],
]);

function readContent(content: JsonObject, path: string, calls: CallNames): Turn {
  const { role: given, parts } = CONTENT.read(content, path);
  const role = ROLES.get(given) ?? rejectUntranslatable(join(path, "role"));
  const list = readObjects(parts, join(path, "parts")).map((part, position) => {
    const place = `${path}.parts[${position}]`;
    return { members: PART.read(part, place), place };
  });
  if (role !== "assistant") return { role, parts: list.flatMap((each) => readUserPart(each, calls)) };
  calls.beginTurn();
  const read = list.flatMap((each) => readModelPart(each, calls));
  // Thoughts are repeated with their signatures in what the gateway made of them.
  const isCarried = read.some((part) => part.kind === "reasoning" && !isPlainThought(part));
  return { role, parts: isCarried ? read.filter((part) => !isPlainThought(part)) : read };
}

function isPlainThought(part: Part): boolean {
  return part.kind === "reasoning" && part.signature === undefined && part.redacted === undefined;
}

interface PlacedPart {
  readonly members: PartMembers;
  readonly place: string;
}

function readUserPart({ members, place }: PlacedPart, calls: CallNames): readonly Part[] {
  if (isSet(members.functionResponse)) return [readResponse(members.functionResponse, place, calls)];
  return readMediaPart(members, place);
}

function readMediaPart({ text, inlineData, fileData }: PartMembers, place: string): readonly ResultPart[] {
  if (isSet(text)) return textParts(requireText(text, join(place, "text")));
  if (isSet(inlineData)) return [readInline(inlineData, join(place, "inlineData"))];
  if (isSet(fileData)) return [readFile(fileData, join(place, "fileData"))];
  return rejectUntranslatable(place);
}

function readInline(inline: unknown, path: string): ResultPart {
  const { mimeType, data, displayName } = FILE.read(readMember(inline, path) ?? {}, path);
  const type = requireText(mimeType, join(path, "mimeType"));
  const source = inlineSource(type, toBase64(requireText(data, join(path, "data"))));
  const name = readText(displayName) || undefined;
  if (source.mediaType.startsWith("image/"))
    return { kind: "image", source, detail: undefined, cache: undefined, path };
  return { kind: "document", source: decodeTextSource(source), name, cache: undefined, path };
}

/** Google takes base64 of both alphabets, other providers only one. */
function toBase64(data: string): string {
  return data.replaceAll("-", "+").replaceAll("_", "/");
}

function readFile(file: unknown, path: string): ResultPart {
  const { mimeType, fileUri } = FILE.read(readMember(file, path) ?? {}, path);
  const place = join(path, "fileUri");
  const source = readMediaUrl(requireText(fileUri, place)) ?? rejectUntranslatable(place);
  const shared = { source, cache: undefined, path };
  return readText(mimeType).toLowerCase().startsWith("image/")
    ? { kind: "image", detail: undefined, ...shared }
    : { kind: "document", name: undefined, ...shared };
}

function textParts(text: string): readonly TextPart[] {
  return text === "" ? [] : [{ kind: "text", text, cache: undefined }];
}

/** Reads a part of the model, after the reasoning that its signature carries. Drops signatures of Google's. */
function readModelPart({ members, place }: PlacedPart, calls: CallNames): readonly Part[] {
  const { thought, text, functionCall, executableCode, codeExecutionResult, thoughtSignature } = members;
  const carried: readonly ReasoningPart[] = decodeReasoning(readText(thoughtSignature)) ?? [];
  if (isSet(functionCall)) return [...carried, readCall(functionCall, join(place, "functionCall"), calls)];
  if (thought === true) return [...carried, ...thoughtParts(readText(text))];
  if (isSet(text)) return [...carried, ...textParts(requireText(text, join(place, "text")))];
  if (isJsonObject(executableCode)) return textParts(readText(executableCode.code));
  if (isJsonObject(codeExecutionResult)) return textParts(readText(codeExecutionResult.output));
  return carried.length > 0 ? carried : rejectUntranslatable(place);
}

function thoughtParts(text: string): readonly ReasoningPart[] {
  return text === "" ? [] : [{ kind: "reasoning", text, signature: undefined, redacted: undefined }];
}

const CALL = readerOf(["id", "name", "args"]);

function readCall(call: unknown, path: string, calls: CallNames): ToolCallPart {
  const { id, name: given, args } = CALL.read(readMember(call, path) ?? {}, path);
  const name = requireName(given, join(path, "name"));
  const object = readMember(args, join(path, "args")) ?? {};
  if (isTooDeep(object)) reject(join(path, "args"));
  const input = JSON.stringify(object);
  return { kind: "tool_call", id: calls.add(readText(id), name), name, input, cache: undefined };
}

function readResponse(response: unknown, path: string, calls: CallNames): ToolResultPart {
  const place = join(path, "functionResponse");
  const members = FUNCTION_RESPONSE.read(readMember(response, place) ?? {}, place);
  const callId = calls.answer(readText(members.id), readText(members.name));
  const { text, isError } = readOutput(members.response, join(place, "response"));
  const media = readObjects(members.parts, join(place, "parts")).flatMap((part, position) => {
    const partPath = `${place}.parts[${position}]`;
    return readMediaPart(PART.read(part, partPath), partPath);
  });
  return { kind: "tool_result", callId, parts: [...textParts(text), ...media], isError, cache: undefined };
}

/** Members that hold a whole output, as Google's documentation and its clients name them. */
const OUTPUTS = ["output", "result", "content"];

/** Reads what a function returned: a text alone in one member, else the JSON of the whole object. */
function readOutput(response: unknown, path: string): { readonly text: string; readonly isError: boolean } {
  const object = readMember(response, path) ?? {};
  if (isTooDeep(object)) reject(path);
  const [[name, value] = ["", undefined], ...others] = Object.entries(object);
  if (value === undefined) return { text: "", isError: false };
  const isError = name === "error" && others.length === 0;
  const isWhole = others.length === 0 && typeof value === "string" && (isError || OUTPUTS.includes(name));
  return { text: isWhole ? value : JSON.stringify(isError ? value : object), isError };
}
