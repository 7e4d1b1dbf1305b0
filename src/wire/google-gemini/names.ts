import { isJsonObject, type JsonObject } from "../json/read.ts";
import { reject } from "../request-body.ts";

/** Longer keys are no name of Google's. */
const KEY_CHARS_MAX = 64;

/** The members of an object that a reader knows, by their names in camelCase; null counts as omitted. */
export type Members<Name extends string> = Readonly<Partial<Record<Name, unknown>>>;

/**
 * Reads objects of one kind. Google takes each name in camelCase and in snake_case: whatever the client writes, the
 * gateway must read and edit that member.
 *
 * @see https://protobuf.dev/programming-guides/json/
 */
export interface NameReader<Name extends string> {
  /** Throws `wrong_shape` for a member in any third spelling, and for one in two spellings. */
  read(object: JsonObject, path: string): Members<Name>;
  /** Returns the client's spelling of a member, in camelCase where it is missing. */
  spellingOf(object: JsonObject, name: Name): string;
}

/** Creates the reader of objects that may have members of these names. */
export function readerOf<const Name extends string>(names: readonly Name[]): NameReader<Name> {
  const byKey = new Map<string, Name>();
  const byFold = new Map<string, Name>();
  for (const name of names) {
    byKey.set(name, name).set(snakeCase(name), name);
    byFold.set(fold(name), name);
  }
  return {
    read(object, path) {
      const members: Partial<Record<Name, unknown>> = {};
      for (const key of Object.keys(object)) {
        const name = byKey.get(key);
        if (name === undefined) {
          if (key.length <= KEY_CHARS_MAX && byFold.has(fold(key))) reject(join(path, key));
        } else if (name in members) reject(join(path, key));
        else members[name] = object[key] ?? undefined;
      }
      return members;
    },
    spellingOf: (object, name) => {
      const snake = snakeCase(name);
      return Object.hasOwn(object, snake) ? snake : name;
    },
  };
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Folds case as case-insensitive readers do, and drops what tells camelCase from snake_case. */
function fold(key: string): string {
  return key.replaceAll("_", "").toUpperCase().toLowerCase();
}

export function join(path: string, member: string): string {
  return path === "" ? member : `${path}.${member}`;
}

/** Returns a list; Google takes a single object for a list of one. Throws `wrong_shape` for anything else. */
export function readObjects(value: unknown, path: string): readonly JsonObject[] {
  if (value === undefined || value === null) return [];
  if (isJsonObject(value)) return [value];
  if (!Array.isArray(value)) reject(path);
  for (let position = 0; position < value.length; position += 1)
    if (!isJsonObject(value[position])) reject(`${path}[${position}]`);
  return value;
}

/** Returns an object; `undefined` when omitted. Throws `wrong_shape` for anything else. */
export function readMember(value: unknown, path: string): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  return isJsonObject(value) ? value : reject(path);
}

const WHOLE = /^-?\d{1,15}$/;

/** Returns a whole number, which Google takes as text too; `undefined` when omitted. Throws `wrong_shape`. */
export function readInteger(value: unknown, path: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  const number = typeof value === "string" && WHOLE.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) ? (number as number) : reject(path);
}

/** The members of a request body. */
export const REQUEST = readerOf([
  "model",
  "contents",
  "systemInstruction",
  "tools",
  "toolConfig",
  "safetySettings",
  "generationConfig",
  "cachedContent",
  "serviceTier",
  "labels",
]);

/** The members of `generationConfig`. */
export const GENERATION = readerOf([
  "candidateCount",
  "maxOutputTokens",
  "stopSequences",
  "temperature",
  "topP",
  "topK",
  "seed",
  "presencePenalty",
  "frequencyPenalty",
  "responseMimeType",
  "responseSchema",
  "responseJsonSchema",
  "responseLogprobs",
  "logprobs",
  "responseModalities",
  "speechConfig",
  "imageConfig",
  "thinkingConfig",
  "mediaResolution",
  "routingConfig",
  "modelSelectionConfig",
  "modelConfig",
  "serviceTier",
]);

/** The members of `thinkingConfig`. */
export const THINKING = readerOf(["includeThoughts", "thinkingBudget", "thinkingLevel"]);

/** The members of one part of a content. */
export const PART = readerOf([
  "text",
  "thought",
  "thoughtSignature",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
  "toolCall",
  "toolResponse",
  "videoMetadata",
  "mediaResolution",
  "partMetadata",
]);

/** The members of a file inside of a part. */
export const FILE = readerOf(["mimeType", "data", "fileUri", "displayName"]);

/** The members of a content. */
export const CONTENT = readerOf(["role", "parts"]);

/** The members of a function's response. */
export const FUNCTION_RESPONSE = readerOf(["id", "name", "response", "parts"]);
