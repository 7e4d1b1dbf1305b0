import { addTokens, type Usage } from "../../domain/usage.ts";
import type { WireFormat } from "../format.ts";
import { isJsonObject, type JsonObject, parseJsonObject, readCount, readText } from "../json/read.ts";
import type { RequestHead } from "../model-request.ts";
import { readUsage } from "../openai-responses/response.ts";
import type { ReplyPart, ReplyReader } from "../reply-part.ts";
import { printSse } from "../sse.ts";
import { readTypedStream } from "../typed-stream.ts";
import { UpstreamFault } from "../upstream-fault.ts";

/** OpenAI sends at most three partial images of an image; other hosts may send some unasked. */
const EVENTS_PER_IMAGE_MAX = 16;

/** The types of the events of a stream. */
interface ImageEvents {
  readonly partial: string;
  /** The type of the event with a whole image. */
  readonly completed: string;
}

/** Returns the readers of answers whose events begin with a name, such as "image_generation". */
export function createImageAnswers(name: string): Pick<WireFormat, "readStream" | "readWhole"> {
  const events = { partial: `${name}.partial_image`, completed: `${name}.completed` };
  return {
    readStream: (request) => readStream(request, events),
    readWhole: (request, text) => readWhole(request, text, events),
  };
}

/**
 * Reads images that are streamed as events: partial images, then each image with its usage.
 *
 * @see https://platform.openai.com/docs/api-reference/images-streaming
 */
function readStream({ choices }: RequestHead, events: ImageEvents): ReplyReader {
  const images = new StreamedImages(events, choices * EVENTS_PER_IMAGE_MAX);
  return readTypedStream({
    finish: events.completed,
    finishes: choices,
    unparsed: "b64_json",
    readOutput: (event) => images.readOutput(event),
    readUsage: (event) => images.readUsage(event),
    unreportedImages: () => images.unreported(),
  });
}

/** Counts the images of one stream, and sums their usage: each event has that of its own image. */
class StreamedImages {
  readonly #types: ImageEvents;
  readonly #eventsMax: number;
  #events = 0;
  #opened = 0;
  #begun = 0;
  #completed = 0;
  #reported = 0;
  #usage: Usage | undefined;

  constructor(types: ImageEvents, eventsMax: number) {
    this.#types = types;
    this.#eventsMax = eventsMax;
  }

  /** An image is not text, so it adds nothing to a local count. */
  readOutput(event: JsonObject): string | undefined {
    const { partial, completed } = this.#types;
    if (event.type !== partial && event.type !== completed) return undefined;
    if (readText(event.b64_json) === "" && readText(event.url) === "") return undefined;
    this.#events += 1;
    if (this.#events > this.#eventsMax) throw new UpstreamFault("The answer has too many images");
    if (event.type === partial) this.#readPartial(event);
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

const EVENT_STREAM = "text/event-stream; charset=utf-8";

/**
 * Reads a list of images, each as base64 or as an address. The body passes through unchanged; for a client that
 * asked for a stream it becomes the last events of one. Throws {@link UpstreamFault} for anything else; an empty
 * list is valid and not readable.
 *
 * @see https://platform.openai.com/docs/api-reference/images/object
 */
function readWhole({ stream }: RequestHead, text: string, { completed }: ImageEvents): ReplyPart {
  const body = parseJsonObject(text);
  const images = body?.data;
  if (!body || body.error || !Array.isArray(images) || !images.every(isImage)) {
    throw new UpstreamFault("The answer is not a list of images");
  }
  return {
    text: stream ? printEvents(completed, body, images) : text,
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
  type: string,
  { created, data: _, usage, ...shared }: JsonObject,
  images: readonly JsonObject[],
): string {
  const last = images.length - 1;
  const events = images.map((image, position) => {
    const own = position === last ? { usage } : {};
    const event = { type, created_at: created, ...shared, ...image, ...own };
    return printSse({ event: type, data: JSON.stringify(event) });
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
