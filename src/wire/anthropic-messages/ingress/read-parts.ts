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
import { readCacheMark } from "../../request-fields.ts";
import { readDocument, readImage } from "./read-media.ts";
import { isServerBlock, readServerBlock } from "./read-server-block.ts";

/** Where content stands: who says it, and its place in the client's body. */
interface Place {
  readonly role: Turn["role"];
  readonly path: string;
}

type BlockReader = (block: JsonObject, path: string) => readonly Part[];
type ResultReader = (block: JsonObject, path: string) => readonly ResultPart[];

/** What a tool may give back, and a user may say. */
const RESULT_READERS = new Map<unknown, ResultReader>([
  ["text", readTextBlock],
  ["image", readImage],
  ["document", readDocument],
  ["tool_reference", (block) => textParts(readText(block.tool_name), block)],
]);

const READERS: Readonly<Record<Turn["role"], ReadonlyMap<unknown, BlockReader>>> = {
  system: new Map([["text", readTextBlock]]),
  user: new Map<unknown, BlockReader>([...RESULT_READERS, ["tool_result", readToolResult]]),
  assistant: new Map<unknown, BlockReader>([
    ["text", readTextBlock],
    ["thinking", readThinking],
    ["redacted_thinking", readRedacted],
    ["tool_use", readToolUse],
  ]),
};

/** Reads the content of a message or of the system prompt. Empty texts are left out: nobody takes them. */
export function readParts(content: unknown, { role, path }: Place): readonly Part[] {
  return readBlocks(content, path, READERS[role]);
}

function readBlocks<Read extends Part>(
  content: unknown,
  path: string,
  readers: ReadonlyMap<unknown, (block: JsonObject, path: string) => readonly Read[]>,
): readonly (Read | TextPart)[] {
  if (!isSet(content)) return [];
  if (typeof content === "string") return textParts(content);
  if (!Array.isArray(content)) reject(path);
  const blocks: readonly unknown[] = content;
  return blocks.flatMap((block, position): readonly (Read | TextPart)[] => {
    const blockPath = `${path}[${position}]`;
    if (!isJsonObject(block)) reject(blockPath);
    const read = readers.get(block.type);
    if (read) return read(block, blockPath);
    if (typeof block.type !== "string") reject(`${blockPath}.type`);
    return isServerBlock(block) ? textParts(readServerBlock(block), block) : rejectUntranslatable(blockPath);
  });
}

function readTextBlock(block: JsonObject, path: string): readonly TextPart[] {
  return textParts(requireText(block.text, `${path}.text`), block);
}

function textParts(text: string, block: JsonObject = {}): readonly TextPart[] {
  return text === "" ? [] : [{ kind: "text", text, cache: readCacheMark(block) }];
}

function readToolResult(block: JsonObject, path: string): readonly [ToolResultPart] {
  return [
    {
      kind: "tool_result",
      callId: requireId(block.tool_use_id, `${path}.tool_use_id`),
      parts: readBlocks(block.content, `${path}.content`, RESULT_READERS),
      isError: block.is_error === true,
      cache: readCacheMark(block),
    },
  ];
}

function readToolUse(block: JsonObject, path: string): readonly [ToolCallPart] {
  const input = block.input ?? {};
  if (!isJsonObject(input) || isTooDeep(input)) reject(`${path}.input`);
  return [
    {
      kind: "tool_call",
      id: requireId(block.id, `${path}.id`),
      name: requireName(block.name, `${path}.name`),
      input: JSON.stringify(input),
      cache: readCacheMark(block),
    },
  ];
}

function readThinking(block: JsonObject): readonly [ReasoningPart] {
  const signature = readText(block.signature) || undefined;
  return [{ kind: "reasoning", text: readText(block.thinking), signature, redacted: undefined }];
}

function readRedacted(block: JsonObject): readonly [ReasoningPart] {
  return [{ kind: "reasoning", text: "", signature: undefined, redacted: readText(block.data) }];
}

function requireId(value: unknown, path: string): string {
  return requireText(value, path) || reject(path);
}
