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
import { isJsonObject, isSet, type JsonObject, readArray, readText } from "../../json/read.ts";
import {
  reject,
  rejectUntranslatable,
  requireFilledText,
  requireName,
  requireText,
} from "../../request-body.ts";
import { readCacheMark } from "../../request-fields.ts";
import { readDocument, readImage } from "./read-media.ts";

/** Prefix of a line that a coding agent adds to the system prompt. The line defeats prompt caches. */
const BILLING_HEADER = "x-anthropic-billing-header:";
const ROLES: readonly unknown[] = ["system", "user", "assistant"] satisfies Turn["role"][];

/** Reads the system prompt and the messages. Messages without readable content are left out. */
export function readMessages(body: JsonObject): readonly Turn[] {
  const messages = readArray(body.messages);
  const lastOfUser = messages.findLastIndex((message) => isJsonObject(message) && message.role === "user");
  const turns = [readSystem(body.system)];
  for (const [position, message] of messages.entries()) {
    if (!isCleared(message, position < lastOfUser)) turns.push(readMessage(message, `messages[${position}]`));
  }
  const readable = turns.filter(({ parts }) => parts.length > 0);
  return readable.length > 0 ? readable : reject("messages");
}

function readSystem(system: unknown): Turn {
  const parts = readParts(system, { role: "system", path: "system" });
  return {
    role: "system",
    parts: parts.filter((part) => part.kind !== "text" || !isBillingHeader(part.text)),
  };
}

function isBillingHeader(text: string): boolean {
  return text.startsWith(BILLING_HEADER) && !text.trim().includes("\n");
}

/** Returns whether a system message was valid for one answer only and a user message follows it. */
function isCleared(message: unknown, hasUserAfter: boolean): boolean {
  return hasUserAfter && isJsonObject(message) && message.clear_at === "next_user_message";
}

function readMessage(message: unknown, path: string): Turn {
  if (!isJsonObject(message)) reject(path);
  const { role, content } = message;
  if (!isRole(role)) reject(`${path}.role`);
  return { role, parts: readParts(content, { role, path: `${path}.content` }) };
}

function isRole(role: unknown): role is Turn["role"] {
  return ROLES.includes(role);
}

/** The role of the message that holds some content, and the path of the content in the client's body. */
interface Place {
  readonly role: Turn["role"];
  readonly path: string;
}

type BlockReader = (block: JsonObject, path: string) => readonly Part[];
type ResultReader = (block: JsonObject, path: string) => readonly ResultPart[];

/** Readers of the blocks that a tool result may contain, by block type. */
const RESULT_READERS = new Map<unknown, ResultReader>([
  ["text", readTextBlock],
  ["image", readImage],
  ["document", readDocument],
  ["tool_reference", (block) => textParts(readText(block.tool_name), block)],
]);

/** Readers of the blocks that a message may contain, by role and block type. */
const READERS: Readonly<Record<Turn["role"], ReadonlyMap<unknown, BlockReader>>> = {
  system: new Map([["text", readTextBlock]]),
  user: new Map<unknown, BlockReader>([...RESULT_READERS, ["tool_result", readToolResult]]),
  assistant: new Map<unknown, BlockReader>([
    ["text", readTextBlock],
    ["thinking", readThinking],
    ["redacted_thinking", readRedactedThinking],
    ["tool_use", readToolUse],
  ]),
};

function readParts(content: unknown, { role, path }: Place): readonly Part[] {
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

/** Drops an empty text, which every provider rejects. */
function textParts(text: string, block: JsonObject = {}): readonly TextPart[] {
  return text === "" ? [] : [{ kind: "text", text, cache: readCacheMark(block) }];
}

function readToolResult(block: JsonObject, path: string): readonly [ToolResultPart] {
  return [
    {
      kind: "tool_result",
      callId: requireFilledText(block.tool_use_id, `${path}.tool_use_id`),
      parts: readBlocks(block.content, `${path}.content`, RESULT_READERS),
      isError: block.is_error === true,
      cache: readCacheMark(block),
    },
  ];
}

/** Reads a `thinking` block of an earlier answer. */
function readThinking(block: JsonObject): readonly [ReasoningPart] {
  const signature = readText(block.signature) || undefined;
  return [{ kind: "reasoning", text: readText(block.thinking), signature, redacted: undefined }];
}

/** Reads a `redacted_thinking` block of an earlier answer. */
function readRedactedThinking(block: JsonObject): readonly [ReasoningPart] {
  return [{ kind: "reasoning", text: "", signature: undefined, redacted: readText(block.data) }];
}

function readToolUse(block: JsonObject, path: string): readonly [ToolCallPart] {
  const input = block.input ?? {};
  if (!isJsonObject(input) || isTooDeep(input)) reject(`${path}.input`);
  return [
    {
      kind: "tool_call",
      id: requireFilledText(block.id, `${path}.id`),
      name: requireName(block.name, `${path}.name`),
      input: JSON.stringify(input),
      cache: readCacheMark(block),
    },
  ];
}

/** Blocks of server tools, and others, that contain nothing for another model. */
const UNREADABLE = new Set([
  "server_tool_use",
  "mcp_tool_use",
  "mcp_tool_listing",
  "tool_search_tool_result",
  "tool_removal",
  "fallback",
]);
/** Members that contain text. Encrypted and encoded data is in other members. */
const WORDS = new Set(["text", "title", "url", "source", "content", "data", "stdout", "stderr"]);

/**
 * Whether the provider created the block from the work of its tools, or the block changes the set of tools.
 */
function isServerBlock(block: JsonObject): boolean {
  const type = readText(block.type);
  if (type === "tool_addition") return !isJsonObject(block.tool) || block.tool.type !== "tool_definition";
  return (
    UNREADABLE.has(type) || type.endsWith("_tool_result") || type === "compaction" || type === "search_result"
  );
}

/**
 * Returns the text of a server block, or "". The text ends with a line feed to separate it from what follows.
 */
function readServerBlock(block: JsonObject): string {
  const type = readText(block.type);
  return UNREADABLE.has(type) || type === "tool_addition" ? "" : wordsOf(block);
}

/** Collects all texts of a block in order, one per line. Works iteratively, so any depth is safe. */
function wordsOf(block: JsonObject): string {
  const words: string[] = [];
  const waiting: unknown[] = [block];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === "string") words.push(value);
    else if (Array.isArray(value)) for (const element of value.toReversed()) waiting.push(element);
    else if (isJsonObject(value) && value.type !== "base64") {
      for (const [key, member] of Object.entries(value).toReversed())
        if (WORDS.has(key)) waiting.push(member);
    }
  }
  return words.map((word) => word && `${word}\n`).join("");
}
