// Imports the event stream codec at its top, and is itself imported at the first call of Bedrock.
import { EventStreamCodec } from "@smithy/eventstream-codec";
import { isCount } from "../domain/usage.ts";
import { editMembers } from "../wire/json/edit.ts";
import { isJsonObject, type JsonObject, parseJsonObject, readText } from "../wire/json/read.ts";
import { printSse } from "../wire/sse.ts";
import { UpstreamFault } from "../wire/upstream-fault.ts";

/** The largest message that AWS sends. */
const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;
const PRELUDE_BYTES = 12;
/** Prelude and checksum. */
const MESSAGE_BYTES_MIN = 16;
/** Sent on in place of a piece that completes no message, so that idle timeouts see the progress. */
const PROGRESS = ": \n\n";

const CODEC = new EventStreamCodec(
  (bytes) => (typeof bytes === "string" ? bytes : textOf(bytes)),
  (text) => Buffer.from(text),
);

/**
 * Converts the binary event stream of an answer to SSE. Events of InvokeModel become the messages that they
 * hold; those of Converse keep their type as the event's name; exceptions become the event `error`. A wrong
 * checksum, a length above 16 MiB and a cut message are errors of the stream, an {@link UpstreamFault}.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html
 */
export function convertEventStream(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const messages = createMessageSplitter();
  const print = createPrinter();
  /** Thrown once the messages before it have been read. */
  let fault: unknown;

  const convert = (bytes: Uint8Array): string => {
    let printed = "";
    try {
      for (const message of messages.split(bytes)) printed += print(message);
    } catch (reason) {
      if (printed === "") throw reason;
      fault = reason;
    }
    return printed;
  };

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (fault !== undefined) throw fault;
        const { done, value } = await reader.read();
        if (!done) {
          controller.enqueue(Buffer.from(convert(value) || PROGRESS));
          return;
        }
        messages.end();
        controller.close();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Cuts a stream of bytes into messages, wherever its pieces are cut. */
function createMessageSplitter() {
  /** Bytes after the last whole message, in pieces, joined once enough of them are there. */
  let pieces: Uint8Array[] = [];
  let pending = 0;
  let needed = PRELUDE_BYTES;

  const take = (): Uint8Array => {
    const [first = new Uint8Array()] = pieces;
    const joined = pieces.length > 1 ? Buffer.concat(pieces) : first;
    pieces = [joined];
    return joined;
  };

  return {
    *split(piece: Uint8Array): Generator<Uint8Array> {
      pieces.push(piece);
      pending += piece.byteLength;
      while (pending >= needed) {
        const bytes = take();
        const length = readLength(bytes);
        needed = length;
        if (pending < length) break;
        pieces = [bytes.subarray(length)];
        pending -= length;
        needed = PRELUDE_BYTES;
        yield bytes.subarray(0, length);
      }
    },
    /** Throws {@link UpstreamFault} when the stream ended inside of a message. */
    end(): void {
      if (pending > 0) throw new UpstreamFault("The event stream was cut");
    },
  };
}

/** Reads the length of a message whose prelude is intact. */
function readLength(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, PRELUDE_BYTES);
  if (Bun.hash.crc32(bytes.subarray(0, 8)) !== view.getUint32(8))
    throw new UpstreamFault("The prelude of an event is damaged");
  const length = view.getUint32(0);
  if (length < MESSAGE_BYTES_MIN || length > MESSAGE_BYTES_MAX)
    throw new UpstreamFault("An event is too long");
  return length;
}

/** A message of the event stream; its headers name its kind. */
interface Message {
  readonly kind: string;
  readonly type: string;
  readonly text: string;
}

function decode(bytes: Uint8Array): Message {
  try {
    const { headers, body } = CODEC.decode(bytes);
    const header = (name: string) => readText(headers[name]?.value);
    const type = header(":event-type") || header(":exception-type") || header(":error-code");
    return { kind: header(":message-type"), type, text: textOf(body) || header(":error-message") };
  } catch {
    throw new UpstreamFault("An event is damaged");
  }
}

/** Creates the printer of one answer: it turns each message into the text of an SSE event, or "". */
function createPrinter(): (bytes: Uint8Array) => string {
  const printChunk = createChunkPrinter();
  return (bytes) => {
    const { kind, type, text } = decode(bytes);
    if (kind === "exception" || kind === "error") return printSse({ event: "error", data: text });
    if (kind !== "event") throw new UpstreamFault("An event has no kind");
    if (type === "chunk") return printChunk(text);
    return type === "initial-response" ? "" : printSse({ event: type, data: text });
  };
}

/** Member in which Bedrock adds token counts and latencies to the last event of InvokeModel. */
const METRICS = "amazon-bedrock-invocationMetrics";

/**
 * Creates the printer of chunks, each of which holds an event of Anthropic's stream in base64. Removes
 * Bedrock's metrics. Cache counts that only the metrics have become a usage of their own, so that they are
 * charged.
 */
function createChunkPrinter(): (text: string) => string {
  let hasCacheUsage = false;
  return (text) => {
    const bytes = readText(parseJsonObject(text)?.bytes);
    const data = Buffer.from(bytes, "base64").toString();
    hasCacheUsage ||= data.includes('"cache_read_input_tokens"');
    if (!data.includes(`"${METRICS}"`)) return printSse({ data });
    const metrics = parseJsonObject(data)?.[METRICS];
    const usage = !hasCacheUsage && isJsonObject(metrics) ? printCacheUsage(metrics) : "";
    return usage + printSse({ data: editMembers(data, { [METRICS]: () => undefined }) });
  };
}

function printCacheUsage(metrics: JsonObject): string {
  const { inputTokenCount: input, outputTokenCount: output } = metrics;
  const { cacheReadInputTokenCount: read = 0, cacheWriteInputTokenCount: written = 0 } = metrics;
  const isUsed = isCount(read) && isCount(written) && read + written > 0;
  if (!isUsed || !isCount(input) || !isCount(output)) return "";
  const usage = {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
  };
  return printSse({ data: JSON.stringify({ type: "message_delta", delta: {}, usage }) });
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}
