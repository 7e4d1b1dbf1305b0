import { editMembers } from "../json/edit.ts";
import { isSet, type JsonObject, parseJsonObject } from "../json/read.ts";
import { type JsonMeasure, skipSpace, skipString, skipValue } from "../json/scan.ts";
import type { ModelRequest, RequestHead } from "../model-request.ts";
import { inputSizeOf, TEXT_SIZE } from "../prompt-size.ts";
import type { ReplyPart } from "../reply-part.ts";
import { parseBody, readPositive, reject, requireFilledText, requireModel } from "../request-body.ts";
import { nameEndUser, readEndUser } from "../request-fields.ts";
import { UpstreamFault } from "../upstream-fault.ts";
import {
  createUntranslated,
  fieldsWith,
  plainFacts,
  printsOnce,
  readInputUsage,
  UNPRICED_RULE,
  untranslatedRequest,
} from "./untranslated.ts";

const CHECKED = ["input", "dimensions", "encoding_format"];
const FIELDS = fieldsWith(...CHECKED, "user");

/**
 * OpenAI's embeddings. Upstreams of Google and Amazon get them translated, see `embeddings/translate.ts`.
 *
 * @see https://platform.openai.com/docs/api-reference/embeddings
 */
export const openaiEmbeddings = createUntranslated({
  surface: "embeddings",
  path: "/v1/embeddings",
  upstreamPath: "/embeddings",
  parseRequest,
  printUpstreamRequest: printsOnce(CHECKED),
  readWhole,
});

const FORMATS: readonly unknown[] = ["float", "base64"];
const PROMPTS_MAX = 2_048;

/**
 * Parses and checks an embeddings body. The upstream checks the value of `dimensions` and unknown fields.
 */
function parseRequest(text: string, measured?: JsonMeasure): ModelRequest {
  const { body, repeatsKeys } = parseBody(text, FIELDS, measured);
  const model = requireModel(body);
  const { prompts, texts, tokenIds } = readInput(body);
  checkOptions(body);
  UNPRICED_RULE.reject(body, repeatsKeys);
  // Half the bytes bound token ids too: each takes at least a digit and a separator.
  const input = { ...inputSizeOf(text, TEXT_SIZE, repeatsKeys), prompts, tokenIds };
  // Most tokens of text begin with a space, while a line feed would be a token of its own.
  return untranslatedRequest(
    text,
    plainFacts({ model, input, endUser: nameEndUser(readEndUser(body)) }),
    () => texts.join(" "),
  );
}

function checkOptions(body: JsonObject): void {
  const { encoding_format: format, user } = body;
  if (isSet(format) && !FORMATS.includes(format)) reject("encoding_format");
  readPositive(body, "dimensions");
  if (isSet(user) && typeof user !== "string") reject("user");
}

/** The prompts to embed: texts, or token ids that the client has counted. */
interface EmbeddingInput {
  /** Number of prompts; each gets a vector. */
  readonly prompts: number;
  readonly texts: readonly string[];
  /** Number of token ids. */
  readonly tokenIds: number;
}

/**
 * Reads a text, a list of texts, a list of token ids or a list of such lists. Throws `wrong_shape` for an
 * empty prompt, and for anything but 1 to 2,048 prompts.
 */
function readInput({ input }: JsonObject): EmbeddingInput {
  if (typeof input === "string")
    return { prompts: 1, texts: [requireFilledText(input, "input")], tokenIds: 0 };
  const list = requireFilled(input, "input");
  if (typeof list[0] === "number") return { prompts: 1, texts: [], tokenIds: countIds(list, "input") };
  if (list.length > PROMPTS_MAX) reject("input");
  return typeof list[0] === "string" ? readTexts(list) : readTokenLists(list);
}

function readTexts(list: readonly unknown[]): EmbeddingInput {
  const texts = list.map((text, position) => requireFilledText(text, `input[${position}]`));
  return { prompts: list.length, texts, tokenIds: 0 };
}

function readTokenLists(list: readonly unknown[]): EmbeddingInput {
  let tokenIds = 0;
  for (const [position, ids] of list.entries()) {
    const path = `input[${position}]`;
    tokenIds += countIds(requireFilled(ids, path), path);
  }
  return { prompts: list.length, texts: [], tokenIds };
}

function countIds(ids: readonly unknown[], path: string): number {
  const wrong = ids.findIndex((id) => typeof id !== "number" || !Number.isSafeInteger(id) || id < 0);
  if (wrong >= 0) reject(`${path}[${wrong}]`);
  return ids.length;
}

function requireFilled(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0) reject(path);
  return value;
}

/**
 * Reads a list of embeddings. The body passes through except the model's name. Throws {@link UpstreamFault}
 * for anything else; an empty list is valid and not readable.
 */
function readWhole(request: RequestHead, text: string): ReplyPart {
  const data = findData(text);
  // Millions of numbers would block the parser for a second, so only the rest is parsed and edited.
  const frame = data && `${text.slice(0, data.start)}[]${text.slice(data.end)}`;
  const body = frame && parseJsonObject(frame);
  if (!body || body.error) throw new UpstreamFault("The answer is not a list of embeddings");
  return {
    text: editMembers(frame, {
      model: () => JSON.stringify(request.model),
      data: () => text.slice(data.start, data.end),
    }),
    isOutput: true,
    isReadable: data.entries > 0,
    generated: "",
    usage: readInputUsage(body.usage),
  };
}

/** The position of the list of vectors in an answer, and the number of vectors. */
interface VectorList {
  readonly start: number;
  readonly end: number;
  readonly entries: number;
}

/** More members and elements than any list of embeddings has: skipping them takes time in proportion. */
const MEMBERS_MAX = 100_000;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Reads a value at an index. Returns the index after it, or -1 if the text there is not what is expected. */
type Step = (at: number) => number;

/**
 * Finds `data` in the text of an answer: a list of objects with an `embedding` each, a string or a non-empty
 * list. Returns `undefined` for anything else. Skips vectors without parsing their numbers, which is thirty
 * times as fast.
 */
function findData(text: string): VectorList | undefined {
  let members = 0;
  let entries = 0;
  let data: VectorList | undefined;

  /** Skips elements or members up to the closing character. */
  const skipList = (start: number, close: number, skipElement: Step): number => {
    let at = skipSpace(text, start + 1);
    if (text.charCodeAt(at) === close) return at + 1;
    for (;;) {
      const end = skipElement(at);
      if (end < 0 || ++members > MEMBERS_MAX) return -1;
      at = skipSpace(text, end);
      if (text.charCodeAt(at) === close) return at + 1;
      if (text.charCodeAt(at) !== COMMA) return -1;
      at = skipSpace(text, at + 1);
    }
  };

  const skipObject = (start: number, skipMember: (key: string, at: number) => number): number => {
    if (text.charCodeAt(start) !== OPEN_BRACE) return -1;
    return skipList(start, CLOSE_BRACE, (at) => {
      if (text.charCodeAt(at) !== QUOTE) return -1;
      const keyEnd = skipString(text, at);
      const colon = skipSpace(text, keyEnd);
      if (text.charCodeAt(colon) !== COLON) return -1;
      return skipMember(text.slice(at, keyEnd), skipSpace(text, colon + 1));
    });
  };

  const skipEntry: Step = (start) => {
    let hasVector = false;
    entries += 1;
    const end = skipObject(start, (key, at) => {
      if (key !== '"embedding"') return skipValue(text, at);
      hasVector = true;
      return skipVector(text, at);
    });
    return hasVector ? end : -1;
  };

  skipObject(skipSpace(text, 0), (key, at) => {
    if (key !== '"data"' || data) return skipValue(text, at);
    const end = text.charCodeAt(at) === OPEN_BRACKET ? skipList(at, CLOSE_BRACKET, skipEntry) : -1;
    if (end >= 0) data = { start: at, end, entries };
    return end;
  });
  return data;
}

/** Returns the index after a vector, a string or a non-empty list; -1 for anything else. */
function skipVector(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first !== QUOTE && first !== OPEN_BRACKET) return -1;
  const end = first === QUOTE ? skipString(text, start) : skipNumbers(text, start);
  const next = text.charCodeAt(skipSpace(text, start + 1));
  return next === CLOSE_BRACKET || next === QUOTE ? -1 : end;
}

/**
 * Returns the index after a list. A list of numbers ends at its first bracket, which one native search finds.
 */
function skipNumbers(text: string, start: number): number {
  const close = text.indexOf("]", start);
  const isFlat =
    !comesBefore(text.indexOf("[", start + 1), close) && !comesBefore(text.indexOf('"', start), close);
  return close >= 0 && isFlat ? close + 1 : skipValue(text, start);
}

function comesBefore(index: number, other: number): boolean {
  return index >= 0 && index < other;
}
