import type {
  DocumentPart,
  ImagePart,
  InlineSource,
  Part,
  ReasoningPart,
  ResultPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
  UrlSource,
} from "../../../domain/chat-request.ts";
import type { ValueBudget } from "../../json/bounds.ts";
import { isJsonObject, isSet, type JsonObject, readArray, readText } from "../../json/read.ts";
import { reject, rejectUntranslatable, requireName, requireText } from "../../request-body.ts";
import { decodeTextSource, readCallArguments, readFileData, readMediaUrl } from "../../request-fields.ts";
import {
  asksForCompaction,
  COMPACTION_PROMPT,
  decodeReasoning,
  isCompaction,
  isCompactionTrigger,
  isMessage,
  readCompaction,
} from "../items.ts";
import { joinName } from "./read-tools.ts";

type Role = Turn["role"];
type RoleAndParts = readonly [role: Role, parts: readonly Part[]];

/** Facts about the whole input that reading one item requires. */
interface History {
  /** Ids of the calls whose results are in the input. */
  readonly answered: ReadonlySet<unknown>;
  readonly budget: ValueBudget;
}

/** Items about work of OpenAI's own tools, which no other provider can continue. */
const DROPPED =
  /^((web_search|file_search|code_interpreter|image_generation|mcp)_call|mcp_list_tools|additional_tools)$/;
const TEXTS: readonly unknown[] = ["input_text", "output_text", "text", "summary_text"];

/**
 * Reads the turns of a body: the instructions, then the items in order. Adjacent items of one role become one
 * turn. Throws `untranslatable` for an item or part that no other format has, and `wrong_shape` for one that
 * cannot be read.
 */
export function readMessages(
  { instructions, input }: JsonObject,
  items: readonly JsonObject[],
  budget: ValueBudget,
): readonly Turn[] {
  const turns = createTurns();
  if (typeof instructions === "string") turns.add("system", [textPart(instructions)]);
  if (typeof input === "string") turns.add("user", [textPart(input)]);
  const answered = new Set(items.filter(isResult).map(({ call_id }) => call_id));
  const said = asksForCompaction(items) ? items.slice(0, -1) : items;
  for (const [position, item] of said.entries()) {
    const [role, parts] = readItem(item, `input[${position}]`, { answered, budget });
    turns.add(role, parts);
  }
  if (turns.all.length === 0) reject("input");
  if (said !== items) turns.add("user", [textPart(COMPACTION_PROMPT)]);
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

function readItem(item: JsonObject, path: string, history: History): RoleAndParts {
  if (isMessage(item)) return readMessage(item, path);
  if (isResult(item)) return ["user", [readResult(item, path)]];
  if (isCompaction(item)) return ["user", [textPart(readCompaction(item) ?? rejectUntranslatable(path))]];
  // A trigger is the last item, and is not read here.
  if (isCompactionTrigger(item)) return reject(path);
  switch (item.type) {
    case "function_call":
      return ["assistant", [readCall(item, path, readArguments(item, path, history))]];
    case "custom_tool_call":
      return ["assistant", [readCall(item, path, readFreeInput(item, path))]];
    case "reasoning":
      return ["assistant", readReasoningItem(item)];
    case "agent_message":
      return ["user", readAgentMessage(item, path)];
    default:
      if (DROPPED.test(readText(item.type))) return ["assistant", []];
      return rejectUntranslatable(path);
  }
}

function readMessage({ role, content }: JsonObject, path: string): RoleAndParts {
  const place = `${path}.content`;
  if (role === "user") return [role, readParts(content, place)];
  if (role === "assistant") return [role, readTexts(content, place)];
  if (role === "system" || role === "developer") return ["system", readTexts(content, place)];
  return reject(`${path}.role`);
}

/**
 * Reads a message between Codex's agents. From other models, its `encrypted_content` parts are plain text.
 */
function readAgentMessage({ content }: JsonObject, path: string): readonly Part[] {
  const parts = readArray(content).map((part) =>
    isJsonObject(part) && part.type === "encrypted_content"
      ? { type: "input_text", text: part.encrypted_content }
      : part,
  );
  return readTexts(parts, `${path}.content`);
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
  const { arguments: value, call_id: callId } = item;
  return readCallArguments({ value, path: `${path}.arguments`, isAnswered: answered.has(callId) }, budget);
}

function readFreeInput({ input }: JsonObject, path: string): string {
  if (typeof input !== "string") reject(`${path}.input`);
  return JSON.stringify({ input });
}

/**
 * Reads a `reasoning` item of an earlier answer. Drops an item that the gateway did not encode, because only
 * its provider can read it.
 */
function readReasoningItem(item: JsonObject): readonly ReasoningPart[] {
  const reasoning = decodeReasoning(item.encrypted_content);
  return reasoning ? [reasoning] : [];
}

function isResult({ type }: JsonObject): boolean {
  return type === "function_call_output" || type === "custom_tool_call_output";
}

function readResult(item: JsonObject, path: string): ToolResultPart {
  const { output } = item;
  if (isSet(output) && typeof output !== "string" && !Array.isArray(output)) reject(`${path}.output`);
  return {
    kind: "tool_result",
    callId: requireCallId(item, path),
    parts: readParts(output ?? "", `${path}.output`),
    isError: false,
    cache: undefined,
  };
}

function requireCallId(item: JsonObject, path: string): string {
  const id = readText(item.call_id);
  if (id === "") reject(`${path}.call_id`);
  return id;
}

/** Reads a text, or a list of texts, images and files. */
function readParts(content: unknown, path: string): readonly ResultPart[] {
  return readEach(content, path, readPart);
}

/** Reads a text, or a list that contains only texts. */
function readTexts(content: unknown, path: string): readonly TextPart[] {
  return readEach(content, path, readTextPart);
}

function readEach<Result>(
  content: unknown,
  path: string,
  read: (part: JsonObject, path: string) => Result,
): readonly (Result | TextPart)[] {
  if (typeof content === "string") return [textPart(content)];
  if (!Array.isArray(content)) reject(path);
  return content.map((part: unknown, position) => {
    const place = `${path}[${position}]`;
    if (!isJsonObject(part)) reject(place);
    return read(part, place);
  });
}

function readPart(part: JsonObject, path: string): ResultPart {
  if (part.type === "input_image") return readImage(part, path);
  return part.type === "input_file" ? readFile(part, path) : readTextPart(part, path);
}

function readTextPart({ type, text, refusal }: JsonObject, path: string): TextPart {
  if (type === "refusal") return textPart(requireText(refusal, `${path}.refusal`));
  if (typeof type !== "string") reject(`${path}.type`);
  if (!TEXTS.includes(type)) rejectUntranslatable(path);
  return textPart(requireText(text, `${path}.text`));
}

function textPart(text: string): TextPart {
  return { kind: "text", text, cache: undefined };
}

/**
 * Reads an `input_image` part. Throws `untranslatable` for a file in the provider's store, and `wrong_shape`.
 */
function readImage({ image_url: url, detail, file_id: id }: JsonObject, path: string): ImagePart {
  if (!isSet(url) && isSet(id)) rejectUntranslatable(`${path}.file_id`);
  if (typeof url !== "string" || url === "") reject(`${path}.image_url`);
  const source = readMediaUrl(url) ?? rejectUntranslatable(`${path}.image_url`);
  return { kind: "image", source, detail: readText(detail) || undefined, cache: undefined, path };
}

/**
 * Reads an `input_file` part: a data: URL, bare base64 of a recognised type, or a web address. An image file
 * becomes an image. Throws `untranslatable` for any other file, and `wrong_shape`.
 */
function readFile(file: JsonObject, path: string): DocumentPart | ImagePart {
  const name = readText(file.filename) || undefined;
  const source = readFileSource(file, name, path);
  if (source.kind === "inline" && source.mediaType.startsWith("image/")) {
    return { kind: "image", source, detail: undefined, cache: undefined, path };
  }
  return { kind: "document", source: decodeTextSource(source), name, cache: undefined, path };
}

function readFileSource(file: JsonObject, name: string | undefined, path: string): InlineSource | UrlSource {
  const { file_data: data, file_url: url, file_id: id } = file;
  if (isSet(data)) {
    if (typeof data !== "string") reject(`${path}.file_data`);
    return readFileData(data, name) ?? rejectUntranslatable(`${path}.file_data`);
  }
  if (isSet(url)) {
    if (typeof url !== "string") reject(`${path}.file_url`);
    return readMediaUrl(url) ?? rejectUntranslatable(`${path}.file_url`);
  }
  return isSet(id) ? rejectUntranslatable(`${path}.file_id`) : reject(`${path}.file_data`);
}
