import type {
  CacheMark,
  ChatRequest,
  Effort,
  InlineSource,
  TextSource,
  UrlSource,
} from "../domain/chat-request.ts";
import { shortHash } from "./identifiers.ts";
import { isTooDeep, type ValueBudget } from "./json/bounds.ts";
import { isJsonObject, isSet, type JsonObject, PIECE_MAX, parseJsonObject } from "./json/read.ts";
import { measureJson } from "./json/scan.ts";
import { reject } from "./request-body.ts";

// Fields that several formats share: cache marks, reasoning effort, the end user, tool call arguments and
// media.

/**
 * Reads the cache mark of a block, part, tool or request. Hosts of Anthropic's models accept it in chat too.
 *
 * @see https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
 */
export function readCacheMark({ cache_control: mark }: JsonObject): CacheMark | undefined {
  if (!isJsonObject(mark)) return undefined;
  return { ttl: mark.ttl === "5m" || mark.ttl === "1h" ? mark.ttl : undefined };
}

/** Prints a cache mark as the member `cache_control`; an empty object without a mark. */
export function printCacheMark(cache: CacheMark | undefined) {
  if (!cache) return {};
  const { ttl } = cache;
  return { cache_control: { type: "ephemeral", ...(ttl && { ttl }) } };
}

const EFFORTS: ReadonlySet<unknown> = new Set<Effort>([
  "none",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
]);

export function isEffort(value: unknown): value is Effort {
  return EFFORTS.has(value);
}

const LOW_BUDGET_TOKENS = 4_096;
const HIGH_BUDGET_TOKENS = 16_384;

/** Converts a reasoning budget: below 4,096 tokens low, below 16,384 medium, else high. */
export function effortOfBudget(budgetTokens: number): "low" | "medium" | "high";
export function effortOfBudget(budgetTokens: number | undefined): "low" | "medium" | "high" | undefined;
export function effortOfBudget(budgetTokens: number | undefined) {
  if (budgetTokens === undefined) return undefined;
  if (budgetTokens < LOW_BUDGET_TOKENS) return "low";
  return budgetTokens < HIGH_BUDGET_TOKENS ? "medium" : "high";
}

/**
 * The form that every provider accepts. Names of other forms may be JSON, an address or a telephone number.
 */
const OPAQUE_USER = /^(?=.*[a-z])[^\s@]{1,64}$/i;
const USER_HASH_CHARS = 32;

/** Prints the client's name for its end user: unchanged if every provider accepts its form, else hashed. */
export function printEndUser(endUser: string): string {
  return OPAQUE_USER.test(endUser) ? endUser : shortHash(endUser, USER_HASH_CHARS);
}

/** Reads the end user in OpenAI's formats. Ignores other types: only abuse detection uses the name. */
export function readEndUser({ safety_identifier: identifier, user }: JsonObject): string | undefined {
  const name = identifier ?? user;
  return typeof name === "string" && name !== "" ? name : undefined;
}

const END_USER_CHARS_MAX = 1_024;

/** Returns the end user as the facts of a request name it: the first 1,024 characters. */
export function nameEndUser(endUser: string | undefined): string | undefined {
  return endUser?.slice(0, END_USER_CHARS_MAX);
}

/** Returns the stop sequences without blank ones, which hosts reject; `undefined` if none is left. */
export function printStopSequences({ stopSequences }: ChatRequest): readonly string[] | undefined {
  const accepted = stopSequences.filter((sequence) => /\S/.test(sequence));
  return accepted.length > 0 ? accepted : undefined;
}

/** The arguments of a tool call in the conversation, as the client sent them. */
export interface CallArguments {
  readonly value: unknown;
  /** Path of the arguments in the body, for errors. */
  readonly path: string;
  /** Whether the conversation contains a result of the call. */
  readonly isAnswered: boolean;
}

/**
 * Reads call arguments as the text of a JSON object; omitted arguments are "{}". Wraps any other text of an
 * answered call in an object, so that the conversation can continue. Throws `wrong_shape` for other types and
 * for an unanswered call without an object. Also throws it above the depth bound and the budget.
 */
export function readCallArguments({ value, path, isAnswered }: CallArguments, budget: ValueBudget): string {
  const object = readObjectText(value, path, budget);
  if (object !== undefined) return object;
  return isAnswered ? JSON.stringify({ unreadable_arguments: value }) : reject(path);
}

function readObjectText(value: unknown, path: string, budget: ValueBudget): string | undefined {
  if (!isSet(value)) return "{}";
  if (typeof value !== "string") reject(path);
  if (value.trim() === "") return "{}";
  // JSON values inside a string were not counted with the body.
  const measured = measureJson(value, PIECE_MAX);
  if (!measured || !budget.spend(measured.values)) reject(path);
  const parsed = parseJsonObject(value, PIECE_MAX);
  return parsed !== undefined && isTooDeep(parsed) ? reject(path) : parsed && value;
}

const DATA_URL_HEAD = /^\s*data:([^;,\s]+)(?:;[^;,]*)*;base64$/i;
const DATA_URL_HEAD_CHARS = 256;
const MEDIA_TYPE_CHARS_MAX = 100;
const WEB_URL = /^\s*https?:\/\//i;
const WEB_URL_HEAD_CHARS = 16;
/** The base64 encoding of "%PDF-". */
const PDF_HEAD = "JVBER";
const TEXT_FILE = /\.(?:txt|md|csv|json|xml|html?|ya?ml)$/i;

/** Reads a data: URL or a web URL; `undefined` for any other, such as a local file. */
export function readMediaUrl(url: string): InlineSource | UrlSource | undefined {
  if (WEB_URL.test(url.slice(0, WEB_URL_HEAD_CHARS))) return { kind: "url", url };
  const comma = url.slice(0, DATA_URL_HEAD_CHARS).indexOf(",");
  const [, mediaType] = (comma >= 0 && DATA_URL_HEAD.exec(url.slice(0, comma))) || [];
  return mediaType === undefined ? undefined : inlineSource(mediaType, url.slice(comma + 1));
}

/** Reads a file in OpenAI's formats: a data: URL, a web URL, or base64 of a PDF or a named text file. */
export function readFileData(data: string, name = ""): InlineSource | UrlSource | undefined {
  return readMediaUrl(data) ?? readBareBase64(data, name);
}

function readBareBase64(data: string, name: string): InlineSource | undefined {
  if (data.startsWith(PDF_HEAD)) return inlineSource("application/pdf", data);
  return TEXT_FILE.test(name) ? inlineSource("text/plain", data) : undefined;
}

/** Decodes an inline source of a text/* type; returns other sources unchanged. */
export function decodeTextSource(source: InlineSource | UrlSource): InlineSource | UrlSource | TextSource {
  if (source.kind !== "inline" || !source.mediaType.startsWith("text/")) return source;
  return { kind: "text", text: Buffer.from(source.data, "base64").toString("utf8") };
}

/** Creates an inline source. Drops parameters of the media type and prints it in lower case. */
export function inlineSource(mediaType: string, data: string): InlineSource {
  const [bare = ""] = mediaType.slice(0, MEDIA_TYPE_CHARS_MAX).split(";");
  const type = bare.trim().toLowerCase();
  return { kind: "inline", mediaType: type === "image/jpg" ? "image/jpeg" : type, data };
}
