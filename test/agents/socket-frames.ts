import { inflateRawSync } from "node:zlib";

/** The end of a compressed message, which its sender leaves out. */
const DEFLATE_END = Buffer.from([0, 0, 0xff, 0xff]);
const TEXT = 1;
const CONTINUATION = 0;

/** Reads the frames of a client of a WebSocket, and passes on the text of each message. */
export function createFrameReader(onText: (text: string) => void): { push(bytes: Buffer): void } {
  let pending = Buffer.alloc(0);
  let message: Buffer[] = [];
  let isCompressed = false;
  return {
    push(bytes) {
      pending = Buffer.concat([pending, bytes]);
      for (let frame = takeFrame(pending); frame; frame = takeFrame(pending)) {
        pending = Buffer.from(frame.rest);
        if (frame.opcode !== TEXT && frame.opcode !== CONTINUATION) continue;
        if (frame.opcode === TEXT) isCompressed = frame.isCompressed;
        message.push(frame.payload);
        if (!frame.isLast) continue;
        const whole = Buffer.concat(message);
        message = [];
        onText((isCompressed ? inflateRawSync(Buffer.concat([whole, DEFLATE_END])) : whole).toString());
      }
    },
  };
}

/** Takes the first frame of the bytes; `undefined` until it is whole. Clients mask their frames. */
function takeFrame(bytes: Buffer) {
  const [first = 0, second = 0] = bytes;
  const short = second & 0x7f;
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const maskStart = 2 + lengthBytes;
  if (bytes.length < maskStart + 4) return undefined;
  const length =
    lengthBytes === 0 ? short : lengthBytes === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  const start = maskStart + 4;
  if (bytes.length < start + length) return undefined;
  const payload = Buffer.from(bytes.subarray(start, start + length));
  for (let at = 0; at < length; at += 1)
    payload[at] = (payload[at] ?? 0) ^ (bytes[maskStart + (at % 4)] ?? 0);
  return {
    opcode: first & 0x0f,
    isLast: (first & 0x80) !== 0,
    isCompressed: (first & 0x40) !== 0,
    payload,
    rest: bytes.subarray(start + length),
  };
}
