/**
 * Encodes one message of AWS's event stream, by its published layout. All headers are strings.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html
 */
export function encodeMessage(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => encodeHeader(name, value)));
  const body = Buffer.from(payload);
  const total = head.byteLength + body.byteLength + 16;
  const message = Buffer.alloc(total);
  message.writeUInt32BE(total, 0);
  message.writeUInt32BE(head.byteLength, 4);
  message.writeUInt32BE(Bun.hash.crc32(message.subarray(0, 8)), 8);
  head.copy(message, 12);
  body.copy(message, 12 + head.byteLength);
  message.writeUInt32BE(Bun.hash.crc32(message.subarray(0, total - 4)), total - 4);
  return message;
}

function encodeHeader(name: string, value: string): Buffer {
  const bytes = Buffer.from(value);
  const head = Buffer.from([
    name.length,
    ...Buffer.from(name),
    7,
    bytes.byteLength >> 8,
    bytes.byteLength & 255,
  ]);
  return Buffer.concat([head, bytes]);
}

/** Encodes an event with a JSON payload. Bedrock pads payloads with a member `p`. */
export function encodeEvent(type: string, payload: object): Buffer {
  const headers = {
    ":event-type": type,
    ":content-type": "application/json",
    ":message-type": "event",
  };
  return encodeMessage(headers, JSON.stringify({ ...payload, p: "abcdefghijkl" }));
}

/** Encodes an event of Anthropic's stream as InvokeModelWithResponseStream sends it. */
export function encodeChunk(event: object): Buffer {
  return encodeEvent("chunk", { bytes: Buffer.from(JSON.stringify(event)).toString("base64") });
}

/** Encodes an exception, as Bedrock sends it inside of a stream. */
export function encodeException(type: string, message: string): Buffer {
  const headers = {
    ":exception-type": type,
    ":content-type": "application/json",
    ":message-type": "exception",
  };
  return encodeMessage(headers, JSON.stringify({ message }));
}
