import { addTokens, type Usage } from "../../domain/usage.ts";
import { editMembers, once } from "../json/edit.ts";
import { isJsonObject, isSet, type JsonObject, parseJsonObject, readCount, readText } from "../json/read.ts";
import type { JsonMeasure } from "../json/scan.ts";
import type { ModelRequest, RequestHead, UpstreamRequestOptions } from "../model-request.ts";
import { readUsage } from "../openai-responses/response.ts";
import { inputSizeOf, TEXT_SIZE } from "../prompt-size.ts";
import type { ReplyPart, ReplyReader } from "../reply-part.ts";
import {
  parseBody,
  readFlag,
  readModel,
  readPositive,
  readWholeNumber,
  reject,
  requireFilledText,
} from "../request-body.ts";
import { nameEndUser, readEndUser } from "../request-fields.ts";
import { printSse } from "../sse.ts";
import { readTypedStream } from "../typed-stream.ts";
import { rejectUnpricedField, TIER_FIELDS } from "../unpriced-fields.ts";
import { UpstreamFault } from "../upstream-fault.ts";
import { createUntranslated, plainFacts, UNPRICED_RULE, untranslatedRequest } from "./untranslated.ts";

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
const CHECKED = ["prompt", "n", "size", "quality", "response_format", "output_format", "svg", "complexity"];
const SENT_ONCE = [...CHECKED, ...Object.keys(TIER_FIELDS)];
/** Fields that the gateway checks or edits. */
const FIELDS = new Set(["model", "stream", "partial_images", ...CHECKED, ...UNPRICED_RULE.names]);

/**
 * Parses and checks a body that asks for 1 to 10 images. The upstream checks the other fields. Partial images
 * have a price in tokens, and none by image.
 *
 * @see https://platform.openai.com/docs/api-reference/images/create
 */
function parseRequest(text: string, measured?: JsonMeasure): ModelRequest {
  const { body, repeatsKeys } = parseBody(text, FIELDS, measured);
  const model = readModel(body);
  const prompt = requireFilledText(body.prompt, "prompt");
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
    endUser: nameEndUser(readEndUser(body)),
    units: { name: "image", held: images, size, quality, unpriced: findUnpricedByImage(body, partialImages) },
  });
  return untranslatedRequest(text, facts, () => prompt);
}

const ONCE_EACH = Object.fromEntries(SENT_ONCE.map((name) => [name, once]));

/** Prints the body for an upstream: its model name, each checked field once, and of a stream only what was asked for. */
function printUpstreamRequest(request: ModelRequest, { model }: UpstreamRequestOptions): string {
  const ofStream = request.stream ? once : () => undefined;
  return editMembers(request.text, {
    ...ONCE_EACH,
    model: () => JSON.stringify(model),
    stream: ofStream,
    partial_images: ofStream,
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

const PARTIAL = "image_generation.partial_image";
/** OpenAI sends at most three partial images of an image; other hosts may send some unasked. */
const EVENTS_PER_IMAGE_MAX = 16;

/**
 * Reads images that are streamed as events: partial images, then each image with its usage.
 *
 * @see https://platform.openai.com/docs/api-reference/images-streaming
 */
function readStream({ choices }: RequestHead): ReplyReader {
  const images = new StreamedImages(choices * EVENTS_PER_IMAGE_MAX);
  return readTypedStream({
    finish: COMPLETED,
    finishes: choices,
    unparsed: "b64_json",
    readOutput: (event) => images.readOutput(event),
    readUsage: (event) => images.readUsage(event),
    unreportedImages: () => images.unreported(),
  });
}

/** Counts the images of one stream, and sums their usage: each event has that of its own image. */
class StreamedImages {
  readonly #eventsMax: number;
  #events = 0;
  #opened = 0;
  #begun = 0;
  #completed = 0;
  #reported = 0;
  #usage: Usage | undefined;

  constructor(eventsMax: number) {
    this.#eventsMax = eventsMax;
  }

  /** An image is not text, so it adds nothing to a local count. */
  readOutput(event: JsonObject): string | undefined {
    if (event.type !== PARTIAL && event.type !== COMPLETED) return undefined;
    if (readText(event.b64_json) === "" && readText(event.url) === "") return undefined;
    this.#events += 1;
    if (this.#events > this.#eventsMax) throw new UpstreamFault("The answer has too many images");
    if (event.type === PARTIAL) this.#readPartial(event);
    return "";
  }

  /** Events do not name their image. Each has one partial image with index 0, or at least one not yet completed. */
  #readPartial({ partial_image_index: index }: JsonObject): void {
    if (readCount(index) === 0) this.#opened += 1;
    this.#begun = Math.max(this.#begun, this.#opened, this.#completed + 1);
  }

  readUsage(event: JsonObject): Pick<ReplyPart, "usage" | "units"> {
    this.#completed += 1;
    const usage = readUsage(event.usage);
    if (usage) {
      this.#reported += 1;
      this.#usage = this.#usage ? addTokens(this.#usage, usage) : usage;
    }
    const kind = { size: printedName(event.size), quality: printedName(event.quality) };
    return { usage: this.#usage, units: { count: this.#completed, ...kind } };
  }

  /** The images that came or began, whose tokens are not reported. Some come without a partial image. */
  unreported(): number {
    return Math.max(this.#begun, this.#completed) - this.#reported;
  }
}

/** The type of the event with a whole image. */
const COMPLETED = "image_generation.completed";
const EVENT_STREAM = "text/event-stream; charset=utf-8";

/**
 * Reads a list of images, each as base64 or as an address. The body passes through unchanged; for a client that
 * asked for a stream it becomes the last events of one. Throws {@link UpstreamFault} for anything else; an empty
 * list is valid and not readable.
 *
 * @see https://platform.openai.com/docs/api-reference/images/object
 */
function readWhole({ stream }: RequestHead, text: string): ReplyPart {
  const body = parseJsonObject(text);
  const images = body?.data;
  if (!body || body.error || !Array.isArray(images) || !images.every(isImage)) {
    throw new UpstreamFault("The answer is not a list of images");
  }
  return {
    text: stream ? printEvents(body, images) : text,
    contentType: stream ? EVENT_STREAM : undefined,
    isOutput: true,
    isReadable: images.length > 0,
    generated: "",
    usage: readUsage(body.usage),
    units: { count: images.length, size: printedName(body.size), quality: printedName(body.quality) },
    unreportedImages: images.length,
  };
}

/** Prints each image as the event of a completed one; the last has the usage of all. */
function printEvents(
  { created, data: _, usage, ...shared }: JsonObject,
  images: readonly JsonObject[],
): string {
  const last = images.length - 1;
  const events = images.map((image, position) => {
    const own = position === last ? { usage } : {};
    const event = { type: COMPLETED, created_at: created, ...shared, ...image, ...own };
    return printSse({ event: COMPLETED, data: JSON.stringify(event) });
  });
  return events.join("");
}

function isImage(image: unknown): image is JsonObject {
  return isJsonObject(image) && (readText(image.b64_json) !== "" || readText(image.url) !== "");
}

/** Returns a size or quality that an answer names; `undefined` for any other value. */
function printedName(value: unknown): string | undefined {
  return readText(value) || undefined;
}
