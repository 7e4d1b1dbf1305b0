import { editMembers, once } from "../json/edit.ts";
import { isSet, type JsonObject } from "../json/read.ts";
import type { ModelRequest, UpstreamRequestOptions } from "../model-request.ts";
import { inputSizeOf, TEXT_SIZE } from "../prompt-size.ts";
import { parseBody, readPositive, reject, requireModel } from "../request-body.ts";
import { createUnpricedRule, TIER_FIELDS } from "../unpriced-fields.ts";
import { readWhole } from "./embedding-answers.ts";
import { createUntranslated, plainFacts, untranslatedRequest } from "./untranslated.ts";

/**
 * OpenAI's embeddings. No other provider's format is equivalent, so they are never translated.
 *
 * @see https://platform.openai.com/docs/api-reference/embeddings
 */
export const openaiEmbeddings = createUntranslated({
  surface: "embeddings",
  path: "/v1/embeddings",
  upstreamPath: "/embeddings",
  parseRequest,
  printUpstreamRequest,
  readWhole,
});

const FORMATS: readonly unknown[] = ["float", "base64"];
const PROMPTS_MAX = 2_048;
const UNPRICED_RULE = createUnpricedRule(new Set(Object.keys(TIER_FIELDS)));
/** Fields that the gateway checks or edits. */
const FIELDS = new Set([
  "model",
  "input",
  "dimensions",
  "encoding_format",
  "stream",
  "service_tier",
  "speed",
  "user",
  ...UNPRICED_RULE.names,
]);

/**
 * Parses and checks an embeddings body. The upstream checks the value of `dimensions` and unknown fields.
 *
 * @see https://platform.openai.com/docs/api-reference/embeddings
 */
function parseRequest(text: string): ModelRequest {
  const { body, repeatsKeys } = parseBody(text, FIELDS);
  const model = requireModel(body);
  const { prompts, texts, tokenIds } = readInput(body);
  checkOptions(body);
  UNPRICED_RULE.reject(body, repeatsKeys);
  // Half the bytes bound token ids too: each takes at least a digit and a separator.
  const input = { ...inputSizeOf(text, TEXT_SIZE, repeatsKeys), prompts, tokenIds };
  // Most tokens of text begin with a space, while a line feed would be a token of its own.
  return untranslatedRequest(text, plainFacts({ model, input }), () => texts.join(" "));
}

/** Prints the body for an upstream: its model name, and no `stream`, because embeddings are not streamed. */
function printUpstreamRequest(request: ModelRequest, { model }: UpstreamRequestOptions): string {
  return editMembers(request.text, {
    model: () => JSON.stringify(model),
    stream: () => undefined,
    input: once,
    dimensions: once,
    encoding_format: once,
    service_tier: once,
    speed: once,
  });
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
  if (typeof input === "string") return { prompts: 1, texts: [requireText(input, "input")], tokenIds: 0 };
  const list = requireFilled(input, "input");
  if (typeof list[0] === "number") return { prompts: 1, texts: [], tokenIds: countIds(list, "input") };
  if (list.length > PROMPTS_MAX) reject("input");
  return typeof list[0] === "string" ? readTexts(list) : readTokenLists(list);
}

function readTexts(list: readonly unknown[]): EmbeddingInput {
  const texts = list.map((text, position) => requireText(text, `input[${position}]`));
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

function requireText(value: unknown, path: string): string {
  if (typeof value !== "string" || value === "") reject(path);
  return value;
}

function requireFilled(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0) reject(path);
  return value;
}
