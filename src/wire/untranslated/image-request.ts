import { isSet, type JsonObject } from "../json/read.ts";
import type { InputSize, RequestHead } from "../model-request.ts";
import { readFlag, readPositive, readWholeNumber, reject } from "../request-body.ts";
import { nameEndUser, readEndUser } from "../request-fields.ts";
import { rejectUnpricedField } from "../unpriced-fields.ts";
import { plainFacts } from "./untranslated.ts";

// What the three requests for images have in common: generations, edits and variations.

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

/** Fields that decide what images cost, beside the stream. */
export const IMAGE_FIELDS: readonly string[] = [
  "n",
  "size",
  "quality",
  "response_format",
  "output_format",
  "svg",
  "complexity",
];

/** The images that a request asks for. */
interface AskedImages {
  readonly images: number;
  readonly size: string | undefined;
  readonly quality: string | undefined;
  readonly stream: boolean;
  readonly partialImages: number;
}

/** Reads what 1 to 10 images are asked for. Throws `wrong_shape`, and `unpriced_field` for other formats. */
export function readAskedImages(body: JsonObject): AskedImages {
  const images = readPositive(body, "n", IMAGES_MAX) ?? 1;
  const size = readName(body, "size");
  const quality = readName(body, "quality");
  readName(body, "response_format");
  rejectOtherFormats(body);
  const stream = readFlag(body, "stream");
  const partial = readWholeNumber(body, "partial_images", { min: 0, max: PARTIAL_IMAGES_MAX }) ?? 0;
  return { images, size, quality, stream, partialImages: stream ? partial : 0 };
}

interface ImageRequest {
  readonly model: string;
  readonly body: JsonObject;
  readonly input: InputSize;
}

/** The facts of a request for images. Partial images have a price in tokens, and none by image. */
export function factsOfImages(
  { model, body, input }: ImageRequest,
  { images, size, quality, stream, partialImages }: AskedImages,
): RequestHead {
  return plainFacts({
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
    endUser: nameEndUser(readEndUser(body)),
    units: { name: "image", held: images, size, quality, unpriced: findUnpricedByImage(body, partialImages) },
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
