import { GatewayError } from "../errors.ts";
import { findMiscased } from "./json/key-case.ts";
import { childrenOf, isJsonObject, type JsonObject } from "./json/read.ts";
import { type JsonMeasure, measureJson } from "./json/scan.ts";

/** A request body that is a JSON object of bearable size. */
export interface RequestBody {
  readonly body: JsonObject;
  /** Whether some object names a key twice: what we read may not be what an upstream reads. */
  readonly repeatsKeys: boolean;
  /** The body again: as it was parsed while that is still in memory, else parsed anew. Holds nothing but the text. */
  again(): JsonObject;
}

/**
 * Far above what agents send: a thousand messages of Claude Code with its tools have some 50,000 members. Each key
 * takes a parser microseconds, each other value a tenth of that.
 */
/**
 * Above what an embeddings host takes, 300,000 token ids, and far above what agents send. The worst body within takes
 * half a second, for which other large bodies wait.
 */
const BODY_MAX: JsonMeasure = { values: 350_000, members: 200_000 };
/** What repeats a name, as each call of an answer does, must not grow without bound. */
export const NAME_CHARS_MAX = 256;

/**
 * Parses a body. Throws `not_json`, or `wrong_shape` when it is no object, has over 350,000 values, 200,000 members,
 * a number over 1,024 characters or a key over 16,384, or has a key that is one of these fields but for the case of
 * its letters.
 */
export function parseBody(text: string, fields: ReadonlySet<string>): RequestBody {
  const measured = measureJson(text, BODY_MAX);
  // Tens of megabytes of brackets, keys or digits would keep the parser, and whoever waits for it, for seconds.
  if (!measured) throw new GatewayError("wrong_shape");
  const body = parseJson(text);
  if (!isJsonObject(body)) throw new GatewayError("wrong_shape");
  const miscased = findMiscased(body, fields);
  if (miscased !== undefined) refuse(miscased);
  const parsed = new WeakRef(body);
  const again = () => parsed.deref() ?? parseBody(text, fields).body;
  return { body, repeatsKeys: countMembers(body) !== measured.members, again };
}

/** The model's name, 1 to 256 characters. */
export function requireModel({ model }: JsonObject): string {
  return requireName(model, "model");
}

/** A name of 1 to 256 characters. */
export function requireName(value: unknown, path: string): string {
  if (typeof value !== "string" || value === "" || value.length > NAME_CHARS_MAX) refuse(path);
  return value;
}

/** Messages with a role and, if any, a content of text, parts or null. What a role or part is called is not ours to judge. */
export function requireMessages(body: JsonObject): readonly JsonObject[] {
  const { messages } = body;
  if (!Array.isArray(messages) || messages.length === 0) refuse("messages");
  return messages.map((message: unknown, position) => {
    const path = `messages[${position}]`;
    if (!isJsonObject(message)) refuse(path);
    if (typeof message.role !== "string") refuse(`${path}.role`);
    if (!isContent(message.content)) refuse(`${path}.content`);
    return message;
  });
}

/** A whole number from 1 to `max`, or `undefined` when it is left out or null. */
export function readPositive(
  body: JsonObject,
  field: string,
  max = Number.MAX_SAFE_INTEGER,
): number | undefined {
  return readWholeNumber(body, field, { min: 1, max });
}

/** A whole number within bounds, or `undefined` when it is left out or null. */
export function readWholeNumber(body: JsonObject, field: string, { min, max }: Bounds): number | undefined {
  const value = body[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < min || value > max) refuse(field);
  return value;
}

/** A flag, false when it is left out or null. */
export function readFlag(body: JsonObject, field: string): boolean {
  const value = body[field] ?? false;
  if (typeof value !== "boolean") refuse(field);
  return value;
}

/** An object, `undefined` when it is left out or null. */
export function readObject(body: JsonObject, field: string): JsonObject | undefined {
  const value = body[field] ?? undefined;
  if (value !== undefined && !isJsonObject(value)) refuse(field);
  return value;
}

/** A list, empty when it is left out or null. */
export function readList(body: JsonObject, field: string): readonly unknown[] {
  const value = body[field] ?? [];
  if (!Array.isArray(value)) refuse(field);
  return value;
}

/** What a number may be, both ends included. */
interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** As OpenAI counts it; Anthropic's ends at 1. */
export const TEMPERATURES: Bounds = { min: 0, max: 2 };
/** Of a share of something. */
export const SHARES: Bounds = { min: 0, max: 1 };
const ANY: Bounds = { min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY };

/** A number within bounds, or `undefined` when it is left out or null. */
export function readNumber(body: JsonObject, field: string, { min, max } = ANY): number | undefined {
  const value = body[field] ?? undefined;
  if (value === undefined) return undefined;
  return typeof value === "number" && value >= min && value <= max ? value : refuse(field);
}

/** A text; the path names it in a refusal. */
export function requireText(value: unknown, path: string): string {
  return typeof value === "string" ? value : refuse(path);
}

/** A reasoning budget in whole tokens; 0 for what is none, which is the upstream's to refuse. */
export function readBudget(value: unknown): number {
  return typeof value === "number" && value > 0 ? Math.ceil(value) : 0;
}

/** Throws `wrong_shape`, naming a place in the body. */
export function refuse(path: string): never {
  throw new GatewayError("wrong_shape", { path });
}

/** Throws `untranslatable`, naming what the client would miss in another format. */
export function refuseUntranslatable(path: string): never {
  throw new GatewayError("untranslatable", { path });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (reason) {
    throw new GatewayError("not_json", { reason });
  }
}

function isContent(content: unknown): boolean {
  return content === undefined || content === null || typeof content === "string" || Array.isArray(content);
}

function countMembers(body: JsonObject): number {
  let members = 0;
  const waiting: unknown[] = [body];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== "object" || value === null) continue;
    const children = childrenOf(value);
    if (children !== value) members += children.length;
    for (const child of children) if (typeof child === "object") waiting.push(child);
  }
  return members;
}
