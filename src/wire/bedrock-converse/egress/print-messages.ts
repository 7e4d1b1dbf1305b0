import type {
  CacheMark,
  ChatRequest,
  DocumentPart,
  ImagePart,
  Part,
  ResultPart,
  ToolCallPart,
  ToolResultPart,
} from "../../../domain/chat-request.ts";
import { findRejectedMedia, isBlank, type Media, type Message } from "../../arrange-messages.ts";
import { joinElements, joinMembers } from "../../json/read.ts";
import type { ModelFeatures } from "../model-id.ts";
import type { PrintReasoning } from "../reasoning.ts";

/** What the printed messages of one request depend on beside the messages. */
interface MessageOptions {
  readonly features: ModelFeatures;
  readonly printReasoning: PrintReasoning;
  readonly nameDocument: NameDocument;
}

/** Text in place of an empty tool result, which Converse refuses. */
const EMPTY_RESULT = "(no output)";
/** Text beside documents in a message without one, which Converse requires. */
const DOCUMENT_TEXT = "The documents are attached.";

/** Prints one arranged message as JSON. */
export function printMessage({ role, parts }: Message, options: MessageOptions): string {
  const blocks = parts.flatMap((part) => printPart(part, options));
  if (lacksText(parts)) blocks.push(JSON.stringify({ text: DOCUMENT_TEXT }));
  return joinMembers({ role: JSON.stringify(role), content: joinElements(blocks) });
}

function lacksText(parts: readonly Part[]): boolean {
  return parts.some(({ kind }) => kind === "document") && !parts.some(({ kind }) => kind === "text");
}

/** Prints the blocks of a part: its own, and the cache point that its mark becomes. */
function printPart(part: Part, options: MessageOptions): readonly string[] {
  if (part.kind === "reasoning") {
    const reasoningContent = options.printReasoning(part);
    return reasoningContent ? [JSON.stringify({ reasoningContent })] : [];
  }
  const block = part.kind === "tool_call" ? printCall(part) : JSON.stringify(blockOf(part, options));
  return [block, ...printCachePoint(part.cache, options.features)];
}

/** Prints the cache point of a mark, for models that cache prompts. Only Claude keeps a prompt for an hour. */
export function printCachePoint(
  cache: CacheMark | undefined,
  { cachesPrompts, isClaude }: ModelFeatures,
): readonly string[] {
  if (!cache || !cachesPrompts) return [];
  const ttl = isClaude ? cache.ttl : undefined;
  return [JSON.stringify({ cachePoint: { type: "default", ttl } })];
}

/** Prints the input as the client wrote it, because parsing would round long numbers. */
function printCall({ id, name, input }: ToolCallPart): string {
  const toolUse = { toolUseId: JSON.stringify(id), name: JSON.stringify(name), input };
  return joinMembers({ toolUse: joinMembers(toolUse) });
}

function blockOf(part: ResultPart | ToolResultPart, options: MessageOptions): object {
  return part.kind === "tool_result" ? { toolResult: resultOf(part, options) } : contentOf(part, options);
}

function resultOf({ callId, parts, isError }: ToolResultPart, options: MessageOptions): object {
  const content = parts.filter((part) => !isBlank(part)).map((part) => contentOf(part, options));
  return {
    toolUseId: callId,
    content: content.length > 0 ? content : [{ text: EMPTY_RESULT }],
    ...(isError && options.features.hasResultStatus && { status: "error" }),
  };
}

function contentOf(part: ResultPart, { nameDocument }: MessageOptions): object {
  if (part.kind === "text") return { text: part.text };
  if (part.kind === "image") return { image: { format: formatOf(part), source: { bytes: bytesOf(part) } } };
  const document = {
    format: formatOf(part),
    name: nameDocument(part.name),
    source: { bytes: bytesOf(part) },
  };
  return { document };
}

/** Returns the bytes of a file in base64. */
function bytesOf({ source }: Media): string {
  if (source.kind === "inline") return source.data;
  return source.kind === "text" ? Buffer.from(source.text).toString("base64") : "";
}

/** @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ImageBlock.html */
const IMAGE_FORMATS: ReadonlyMap<string, string> = new Map([
  ["image/jpeg", "jpeg"],
  ["image/png", "png"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
]);

/** @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html */
const DOCUMENT_FORMATS: ReadonlyMap<string, string> = new Map([
  ["application/pdf", "pdf"],
  ["application/msword", "doc"],
  ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"],
  ["application/vnd.ms-excel", "xls"],
  ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"],
  ["text/csv", "csv"],
  ["text/html", "html"],
  ["text/markdown", "md"],
  ["text/plain", "txt"],
]);

function formatOf({ kind, source }: Media): string | undefined {
  if (source.kind !== "inline") return source.kind === "text" ? "txt" : undefined;
  return (kind === "image" ? IMAGE_FORMATS : DOCUMENT_FORMATS).get(source.mediaType);
}

/**
 * Returns the path of the first image or document that Converse rejects, or `undefined`. Converse accepts some
 * formats, in user messages only, and fetches no web address.
 */
export function findUntranslatable(request: ChatRequest): string | undefined {
  return findRejectedMedia(request, (media: ImagePart | DocumentPart, role) => {
    return role === "user" && formatOf(media) !== undefined;
  });
}

/** Returns the name of a document under a client's title, in the characters that Converse accepts. */
type NameDocument = (title: string | undefined) => string;

const NAME_CHARS_MAX = 100;
const UNNAMED = "document";

/**
 * Creates the namer of one request: Converse refuses two documents of one name, so later ones are numbered.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html
 */
export function createDocumentNamer(): NameDocument {
  /** How many documents have a name. */
  const used = new Map<string, number>();
  return (title) => {
    const name = cleanName(title);
    let number = (used.get(name) ?? 0) + 1;
    while (number > 1 && used.has(`${name} ${number}`)) number += 1;
    const unique = number === 1 ? name : `${name} ${number}`;
    used.set(name, number);
    if (number > 1) used.set(unique, 1);
    return unique;
  };
}

/** Keeps letters, digits, hyphens, parentheses and brackets, with single spaces between them. */
function cleanName(title = ""): string {
  const [stem = ""] = title.slice(0, NAME_CHARS_MAX).split(/\.[a-z]{2,4}$/i);
  const cleaned = stem.replaceAll(/[^a-z0-9()[\]-]+/gi, " ").trim();
  return cleaned === "" ? UNNAMED : cleaned;
}
