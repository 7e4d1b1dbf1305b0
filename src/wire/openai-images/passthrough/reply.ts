import { isJsonObject, parseJsonObject, readText } from "../../json/read.ts";
import type { RequestFacts } from "../../model-request.ts";
import { readUsage } from "../../openai-responses/usage.ts";
import type { ReplyPart } from "../../reply-part.ts";
import { UpstreamFault } from "../../upstream-fault.ts";

/**
 * Reads a list of images, each as base64 or as an address. The body passes through unchanged. Throws
 * {@link UpstreamFault} for anything else; an empty list is valid and not readable.
 *
 * @see https://platform.openai.com/docs/api-reference/images/object
 */
export function readWhole(_: RequestFacts, text: string): ReplyPart {
  const body = parseJsonObject(text);
  const images = body?.data;
  if (!body || body.error || !Array.isArray(images) || !images.every(isImage)) {
    throw new UpstreamFault("The answer is not a list of images");
  }
  return {
    text,
    isOutput: true,
    isReadable: images.length > 0,
    generated: "",
    usage: readUsage(body.usage),
    units: { count: images.length, size: readName(body.size), quality: readName(body.quality) },
  };
}

function isImage(image: unknown): boolean {
  return isJsonObject(image) && (readText(image.b64_json) !== "" || readText(image.url) !== "");
}

function readName(value: unknown): string | undefined {
  return readText(value) || undefined;
}
