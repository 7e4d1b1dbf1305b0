import { GatewayError } from "../errors.ts";
import { childrenOf } from "./json/bounds.ts";
import { findMiscased, isJsonObject, isSet, type JsonObject } from "./json/read.ts";
import { type JsonMeasure, measureJson } from "./json/scan.ts";

/** A request body that is a JSON object within the bounds. */
interface RequestBody {
  readonly body: JsonObject;
  /** Whether any object repeats a key: an upstream may take another value than the one that was checked. */
  readonly repeatsKeys: boolean;
  /** Returns the parsed body. Parses the text again if the body has been garbage-collected. */
  reread(): JsonObject;
}

/**
 * Bounds of a request body. Embeddings hosts accept 300,000 token ids. A thousand messages of Claude Code with
 * its tools have about 50,000 members. A key costs a parser microseconds, any other value a tenth of that. The
 * worst body within the bounds takes half a second, during which other large bodies wait.
 */
const BODY_MAX: JsonMeasure = { values: 350_000, members: 200_000 };
/** Names are repeated in every tool call of an answer, so their length is bounded. */
export const NAME_CHARS_MAX = 256;

/**
 * Parses a body. Throws `not_json` for invalid JSON and `wrong_shape` for anything but an object. Also throws
 * `wrong_shape` above 350,000 values or 200,000 members, and for a number above 1,024 or a key above 16,384
 * characters. A key that differs from one of `fields` only in case is a wrong shape too. `measured` is the
 * measure of the text where it is known.
 */
export function parseBody(
  text: string,
  fields: ReadonlySet<string>,
  measured = measureJson(text, BODY_MAX),
): RequestBody {
  // Megabytes of brackets, keys or digits would block the parser, and all waiting bodies, for seconds.
  if (!measured) throw new GatewayError("wrong_shape");
  const body = parseJson(text);
  if (!isJsonObject(body)) throw new GatewayError("wrong_shape");
  const miscased = findMiscased(body, fields);
  if (miscased !== undefined) reject(miscased);
  const parsed = new WeakRef(body);
  const reread = () => parsed.deref() ?? parseBody(text, fields).body;
  return { body, repeatsKeys: countMembers(body) !== measured.members, reread };
}

/** Returns the model's name of 1 to 256 characters. Throws `wrong_shape` for anything else. */
export function requireModel({ model }: JsonObject): string {
  return requireName(model, "model");
}

/** Returns the model's name; "" where it is left out, for a format that may have a default model. */
export function readModel({ model }: JsonObject): string {
  return isSet(model) ? requireName(model, "model") : "";
}

/** Returns a name of 1 to 256 characters. Throws `wrong_shape` for anything else. */
export function requireName(value: unknown, path: string): string {
  if (typeof value !== "string" || value === "" || value.length > NAME_CHARS_MAX) reject(path);
  return value;
}

/**
 * Returns the messages: at least one, each with a role and an optional content of text, parts or null. Role
 * names and part types are checked by the upstream. Throws `wrong_shape`.
 */
export function requireMessages(body: JsonObject): readonly JsonObject[] {
  const { messages } = body;
  if (!Array.isArray(messages) || messages.length === 0) reject("messages");
  for (let position = 0; position < messages.length; position += 1) {
    const fault = findFault(messages[position]);
    if (fault !== undefined) reject(`messages[${position}]${fault}`);
  }
  return messages;
}

/** Returns the path of what is wrong with a message, within the message. */
function findFault(message: unknown): string | undefined {
  if (!isJsonObject(message)) return "";
  if (typeof message.role !== "string") return ".role";
  return isContent(message.content) ? undefined : ".content";
}

/** Returns an integer from 1 to `max`; `undefined` when omitted or null. Throws `wrong_shape`. */
export function readPositive(
  body: JsonObject,
  field: string,
  max = Number.MAX_SAFE_INTEGER,
): number | undefined {
  return readWholeNumber(body, field, { min: 1, max });
}

/** Returns an integer within the bounds; `undefined` when omitted or null. Throws `wrong_shape`. */
export function readWholeNumber(body: JsonObject, field: string, { min, max }: Bounds): number | undefined {
  const value = body[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < min || value > max) reject(field);
  return value;
}

/** Returns a boolean; false when omitted or null. Throws `wrong_shape`. */
export function readFlag(body: JsonObject, field: string): boolean {
  const value = body[field] ?? false;
  if (typeof value !== "boolean") reject(field);
  return value;
}

/** Returns an object; `undefined` when omitted or null. Throws `wrong_shape`. */
export function readObject(body: JsonObject, field: string): JsonObject | undefined {
  const value = body[field] ?? undefined;
  if (value !== undefined && !isJsonObject(value)) reject(field);
  return value;
}

/** Returns an array; an empty one when omitted or null. Throws `wrong_shape`. */
export function readList(body: JsonObject, field: string): readonly unknown[] {
  const value = body[field] ?? [];
  if (!Array.isArray(value)) reject(field);
  return value;
}

/** The range of a number, both ends included. */
interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** OpenAI's range; Anthropic's ends at 1. */
export const TEMPERATURES: Bounds = { min: 0, max: 2 };
/** The range of probabilities such as `top_p`. */
export const SHARES: Bounds = { min: 0, max: 1 };
const ANY: Bounds = { min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY };

/** Returns a number within the bounds; `undefined` when omitted or null. Throws `wrong_shape`. */
export function readNumber(body: JsonObject, field: string, { min, max } = ANY): number | undefined {
  const value = body[field] ?? undefined;
  if (value === undefined) return undefined;
  return typeof value === "number" && value >= min && value <= max ? value : reject(field);
}

/** Returns a string. Throws `wrong_shape` with the path for anything else. */
export function requireText(value: unknown, path: string): string {
  return typeof value === "string" ? value : reject(path);
}

/** Returns a string that is not empty. Throws `wrong_shape` with the path for anything else. */
export function requireFilledText(value: unknown, path: string): string {
  return requireText(value, path) || reject(path);
}

/** Returns a reasoning budget in whole tokens; 0 for anything but a positive number. */
export function readBudget(value: unknown): number {
  return typeof value === "number" && value > 0 ? Math.ceil(value) : 0;
}

/** Throws `wrong_shape` with the path of a field in the body. */
export function reject(path: string): never {
  throw new GatewayError("wrong_shape", { path });
}

/** Throws `untranslatable` with the path of a field that the client would miss in another format. */
export function rejectUntranslatable(path: string): never {
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
  const waiting: object[] = [body];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    const children = childrenOf(value);
    if (children !== value) members += children.length;
    for (const child of children) if (typeof child === "object" && child !== null) waiting.push(child);
  }
  return members;
}
