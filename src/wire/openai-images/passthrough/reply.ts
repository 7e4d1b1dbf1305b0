import { isJsonObject, type JsonObject, parseJsonObject, readText } from "../../json/read.ts";
import type { RequestFacts } from "../../model-request.ts";
import { readUsage } from "../../openai-responses/usage.ts";
import type { ReplyPart } from "../../reply-part.ts";
import { printSse } from "../../sse.ts";
import { UpstreamFault } from "../../upstream-fault.ts";

/** The type of the event with a whole image. */
export const COMPLETED = "image_generation.completed";
const EVENT_STREAM = "text/event-stream; charset=utf-8";

/**
 * Reads a list of images, each as base64 or as an address. The body passes through unchanged; for a client that
 * asked for a stream it becomes the last events of one. Throws {@link UpstreamFault} for anything else; an empty
 * list is valid and not readable.
 *
 * @see https://platform.openai.com/docs/api-reference/images/object
 */
export function readWhole({ stream }: RequestFacts, text: string): ReplyPart {
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
    units: { count: images.length, size: readName(body.size), quality: readName(body.quality) },
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
export function readName(value: unknown): string | undefined {
  return readText(value) || undefined;
}
