import { GatewayError } from "../../errors.ts";
import { editMembers, once } from "../json/edit.ts";
import type { JsonObject } from "../json/read.ts";
import type { ModelRequest, UpstreamRequestOptions } from "../model-request.ts";
import { inputSizeOf, TEXT_SIZE } from "../prompt-size.ts";
import { parseBody, readFlag, readModel, readPositive, reject, requireText } from "../request-body.ts";
import { createUnpricedRule, TIER_FIELDS } from "../unpriced-fields.ts";
import { plainFacts, untranslatedRequest } from "../untranslated.ts";

const IMAGES_MAX = 10;
/** Base64 of the largest image that models make: 1536x1024 in PNG, and a margin. */
const IMAGE_BYTES_MAX = 16 * 1024 * 1024;
const NAME = /^[\w.:-]{1,64}$/;
const UNPRICED_RULE = createUnpricedRule(new Set(Object.keys(TIER_FIELDS)));
/** Fields that the gateway checks or edits. */
const FIELDS = new Set([
  "model",
  "prompt",
  "n",
  "size",
  "quality",
  "stream",
  "partial_images",
  "response_format",
  ...UNPRICED_RULE.names,
]);

/**
 * Parses and checks a body that asks for 1 to 10 images. The upstream checks the other fields. Throws
 * `not_built` for a stream: partial images have a price of their own.
 *
 * @see https://platform.openai.com/docs/api-reference/images/create
 */
export function parseRequest(text: string): ModelRequest {
  const { body, repeatsKeys } = parseBody(text, FIELDS);
  const model = readModel(body);
  const prompt = requireText(body.prompt, "prompt");
  if (prompt === "") reject("prompt");
  const images = readPositive(body, "n", IMAGES_MAX) ?? 1;
  const size = readName(body, "size");
  const quality = readName(body, "quality");
  readName(body, "response_format");
  UNPRICED_RULE.reject(body, repeatsKeys);
  if (readFlag(body, "stream")) throw new GatewayError("not_built");
  const input = inputSizeOf(text, TEXT_SIZE, repeatsKeys);
  const facts = plainFacts({
    model,
    input,
    choices: images,
    outputTokensBound: "model",
    outputTokensUsual: Number.POSITIVE_INFINITY,
    answerBytesMax: images * IMAGE_BYTES_MAX,
    units: { name: "image", held: images, size, quality },
  });
  return untranslatedRequest(text, facts, () => prompt);
}

/** Prints the body for an upstream: its model name, and nothing of a stream. */
export function printUpstreamRequest(request: ModelRequest, { model }: UpstreamRequestOptions): string {
  return editMembers(request.text, {
    model: () => JSON.stringify(model),
    stream: () => undefined,
    partial_images: () => undefined,
    prompt: once,
    n: once,
    size: once,
    quality: once,
    response_format: once,
    service_tier: once,
    speed: once,
  });
}

/** Returns a word such as a size; `undefined` when omitted or null. Throws `wrong_shape`. */
function readName(body: JsonObject, field: string): string | undefined {
  const value = body[field] ?? undefined;
  if (value === undefined) return undefined;
  return typeof value === "string" && NAME.test(value) ? value : reject(field);
}
