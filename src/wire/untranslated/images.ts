import { editMembers, once } from "../json/edit.ts";
import { isSet, type JsonObject } from "../json/read.ts";
import type { ModelRequest, UpstreamRequestOptions } from "../model-request.ts";
import { inputSizeOf, TEXT_SIZE } from "../prompt-size.ts";
import {
  parseBody,
  readFlag,
  readModel,
  readPositive,
  readWholeNumber,
  reject,
  requireText,
} from "../request-body.ts";
import { createUnpricedRule, rejectUnpricedField, TIER_FIELDS } from "../unpriced-fields.ts";
import { readStream, readWhole } from "./image-answers.ts";
import { createUntranslated, plainFacts, untranslatedRequest } from "./untranslated.ts";

/**
 * OpenAI's generation of images from a text.
 *
 * @see https://platform.openai.com/docs/api-reference/images
 */
export const openaiImages = createUntranslated({
  surface: "images",
  path: "/v1/images/generations",
  upstreamPath: "/images/generations",
  parseRequest,
  printUpstreamRequest,
  readStream,
  readWhole,
});

const IMAGES_MAX = 10;
/** Room for the base64 of each image: 1536x1024 in PNG or 3840x2160 in JPEG, and a margin. */
const IMAGE_BYTES_MAX = 16 * 1024 * 1024;
const PARTIAL_IMAGES_MAX = 3;
/** What OpenAI charges for each partial image, beside the tokens of the image itself. */
const PARTIAL_IMAGE_TOKENS = 100;
/** Base64 of the largest image that models stream: 3840x2160 with 3 bytes for each pixel. */
const EVENT_CHARS_MAX = 32 * 1024 * 1024;
/** Formats of one image. A GIF has up to 16; for an SVG, another model of the caller's choice is paid. */
const FORMATS: readonly unknown[] = ["png", "jpeg", "jpg", "webp"];
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
  "output_format",
  "svg",
  "complexity",
  ...UNPRICED_RULE.names,
]);

/**
 * Parses and checks a body that asks for 1 to 10 images. The upstream checks the other fields. Partial images
 * have a price in tokens, and none by image.
 *
 * @see https://platform.openai.com/docs/api-reference/images/create
 */
function parseRequest(text: string): ModelRequest {
  const { body, repeatsKeys } = parseBody(text, FIELDS);
  const model = readModel(body);
  const prompt = requireText(body.prompt, "prompt");
  if (prompt === "") reject("prompt");
  const images = readPositive(body, "n", IMAGES_MAX) ?? 1;
  const size = readName(body, "size");
  const quality = readName(body, "quality");
  readName(body, "response_format");
  UNPRICED_RULE.reject(body, repeatsKeys);
  rejectOtherFormats(body);
  const stream = readFlag(body, "stream");
  const asked = readWholeNumber(body, "partial_images", { min: 0, max: PARTIAL_IMAGES_MAX }) ?? 0;
  const partialImages = stream ? asked : 0;
  const input = inputSizeOf(text, TEXT_SIZE, repeatsKeys);
  const facts = plainFacts({
    model,
    stream,
    input,
    choices: images,
    outputTokensBound: "model",
    outputTokensExtra: partialImages * PARTIAL_IMAGE_TOKENS,
    outputTokensUsual: Number.POSITIVE_INFINITY,
    answerBytesMax: images * IMAGE_BYTES_MAX,
    eventCharsMax: EVENT_CHARS_MAX,
    mayComeWhole: true,
    units: { name: "image", held: images, size, quality, unpriced: findUnpricedByImage(body, partialImages) },
  });
  return untranslatedRequest(text, facts, () => prompt);
}

/** Prints the body for an upstream: its model name, each checked field once, and of a stream only what was asked for. */
function printUpstreamRequest(request: ModelRequest, { model }: UpstreamRequestOptions): string {
  const ofStream = request.stream ? once : () => undefined;
  return editMembers(request.text, {
    model: () => JSON.stringify(model),
    stream: ofStream,
    partial_images: ofStream,
    prompt: once,
    n: once,
    size: once,
    quality: once,
    response_format: once,
    output_format: once,
    svg: once,
    complexity: once,
    service_tier: once,
    speed: once,
  });
}

/** Throws `unpriced_field` for a format that costs more than one image. */
function rejectOtherFormats(body: JsonObject): void {
  if (isSet(body.svg)) rejectUnpricedField("svg");
  if (isSet(body.output_format) && !FORMATS.includes(body.output_format))
    rejectUnpricedField("output_format");
}

/** Returns the field that makes an image cost more tokens, and so is unpriced where images have one price. */
function findUnpricedByImage(body: JsonObject, partialImages: number): string | undefined {
  if (partialImages > 0) return "partial_images";
  return isSet(body.complexity) ? "complexity" : undefined;
}

/** Returns a word such as a size; `undefined` when omitted or null. Throws `wrong_shape`. */
function readName(body: JsonObject, field: string): string | undefined {
  const value = body[field] ?? undefined;
  if (value === undefined) return undefined;
  return typeof value === "string" && NAME.test(value) ? value : reject(field);
}
