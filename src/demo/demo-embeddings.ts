import { type JsonObject, readArray, readText } from "../wire/json/read.ts";
import { tokensOf } from "./demo-answer.ts";

const DIMENSIONS_DEFAULT = 64;
const DIMENSIONS_MAX = 512;
/** Dimensions per word. With one, two words that share a dimension would look alike. */
const DIMENSIONS_PER_WORD = 4;
/** Decimal digits that a 32-bit number holds near 1. */
const DIGITS = 8;
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * Encodes one vector of length 1 for each prompt. Vectors are nearer the more words their prompts share.
 * Returns `undefined` unless `dimensions` is a whole number from 1 to 512.
 *
 * @see https://platform.openai.com/docs/api-reference/embeddings
 */
export function encodeDemoEmbeddings(body: JsonObject): string | undefined {
  const dimensions = Number(body.dimensions ?? DIMENSIONS_DEFAULT);
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > DIMENSIONS_MAX) return undefined;
  const isBase64 = body.encoding_format === "base64";
  let promptTokens = 0;
  const data = promptsOf(body.input).map((words, index) => {
    const vector = new Float32Array(dimensions);
    for (const word of words) {
      promptTokens += 1;
      addWord(vector, word);
    }
    scaleToOne(vector);
    return { object: "embedding", index, embedding: isBase64 ? encodeBase64(vector) : roundNumbers(vector) };
  });
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  return JSON.stringify({ object: "list", data, model: readText(body.model), usage });
}

/** Returns the words of every prompt. A token id is one word. */
function promptsOf(input: unknown): readonly Iterable<string>[] {
  if (typeof input === "string") return [tokensOf(input)];
  const list = readArray(input);
  if (typeof list[0] === "number") return [list.map(String)];
  return list.map((prompt) =>
    typeof prompt === "string" ? tokensOf(prompt) : readArray(prompt).map(String),
  );
}

function addWord(vector: Float32Array, word: string): void {
  let hash = FNV_OFFSET;
  for (const character of word.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "") || word) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), FNV_PRIME);
  }
  for (let left = DIMENSIONS_PER_WORD; left > 0; left--) {
    hash = Math.imul(hash ^ (hash >>> 15), FNV_PRIME) + left;
    const place = (hash >>> 1) % vector.length;
    vector[place] = (vector[place] ?? 0) + (hash & 1 ? 1 : -1);
  }
}

function scaleToOne(vector: Float32Array): void {
  const length = Math.hypot(...vector);
  if (length === 0) vector[0] = 1;
  else for (const [place, value] of vector.entries()) vector[place] = value / length;
}

function roundNumbers(vector: Float32Array): number[] {
  return Array.from(vector, (value) => Number(value.toFixed(DIGITS)));
}

/** Encodes 32-bit little-endian numbers. */
function encodeBase64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.byteLength);
  for (const [place, value] of vector.entries()) bytes.writeFloatLE(value, place * vector.BYTES_PER_ELEMENT);
  return bytes.toString("base64");
}
