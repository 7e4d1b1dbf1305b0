import { AAC_RATES, aacFrameBytesMax, hasText, type Sound, type SoundReader } from "./sound.ts";

/** Silence that some encoders write before their first frame. */
const PADDING_BYTES_MAX = 64 * 1024;
const ID3V1_BYTES = 128;
const AAC_FRAME_SAMPLES = 1024;
const AAC_HEAD_BYTES = 7;

/** In kbit/s, by the index in a frame's head; the first has no fixed size of frames. */
const V1_LAYER1 = [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448];
const V1_LAYER2 = [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384];
const V1_LAYER3 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const V2_LAYER1 = [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256];
const V2_LAYER23 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const V1_RATES = [44_100, 48_000, 32_000];

/** One frame: its bytes, its play time, and the parts of its head that all frames of a file share. */
interface Frame {
  readonly bytes: number;
  readonly seconds: number;
  /** The most bytes of its sound on average; unbounded where decoders play one frame of so many bytes. */
  readonly bytesMax: number;
  readonly kind: number;
}

/**
 * MPEG audio (MP1, MP2, MP3) and AAC in ADTS: a row of frames, each with its size in its head.
 *
 * @see https://www.rfc-editor.org/rfc/rfc3119
 */
export const mpeg: SoundReader = {
  matches: (view, start) => frameAt(view, skipPadding(view, start)) !== undefined,
  count(view, start): Sound {
    const end = view.byteLength - (hasText(view, view.byteLength - ID3V1_BYTES, "TAG") ? ID3V1_BYTES : 0);
    let at = skipPadding(view, start);
    const kind = frameAt(view, at)?.kind;
    let seconds = 0;
    let unreadBytes = 0;
    let room = 0;
    while (at < end) {
      const frame = frameAt(view, at);
      if (frame && frame.kind === kind) {
        seconds += frame.seconds;
        room += frame.bytesMax - frame.bytes;
        at += frame.bytes;
      } else {
        unreadBytes += 1;
        at += 1;
      }
    }
    return { seconds, unreadBytes: room < 0 ? end : unreadBytes };
  },
};

function skipPadding(view: DataView, start: number): number {
  const end = Math.min(view.byteLength, start + PADDING_BYTES_MAX);
  let at = start;
  while (at < end && view.getUint8(at) === 0) at += 1;
  return at;
}

/** Returns the frame whose head stands at an offset; `undefined` for other bytes. */
function frameAt(view: DataView, at: number): Frame | undefined {
  if (at + 4 > view.byteLength || view.getUint8(at) !== 0xff) return undefined;
  const second = view.getUint8(at + 1);
  if ((second & 0xe0) !== 0xe0) return undefined;
  return (second & 0xf6) === 0xf0 ? aacFrameAt(view, at) : mpegFrameAt(view, at);
}

function aacFrameAt(view: DataView, at: number): Frame | undefined {
  if (at + AAC_HEAD_BYTES > view.byteLength) return undefined;
  const rateIndex = (view.getUint8(at + 2) >> 2) & 15;
  const rate = AAC_RATES[rateIndex];
  const bytes = ((view.getUint32(at + 2) >> 5) & 0x1fff) >>> 0;
  if (rate === undefined || bytes < AAC_HEAD_BYTES) return undefined;
  const blocks = (view.getUint8(at + 6) & 3) + 1;
  const channels = (view.getUint16(at + 2) >> 6) & 7;
  const bytesMax = blocks * aacFrameBytesMax(channels) + AAC_HEAD_BYTES;
  return { bytes, seconds: (blocks * AAC_FRAME_SAMPLES) / rate, bytesMax, kind: 0x100 | rateIndex };
}

function mpegFrameAt(view: DataView, at: number): Frame | undefined {
  const second = view.getUint8(at + 1);
  const third = view.getUint8(at + 2);
  const version = (second >> 3) & 3;
  const layer = 4 - ((second >> 1) & 3);
  const rateIndex = (third >> 2) & 3;
  const baseRate = V1_RATES[rateIndex];
  const kbits = bitratesOf(version, layer)[third >> 4];
  if (version === 1 || layer === 4 || baseRate === undefined || !kbits) return undefined;
  const rate = version === 3 ? baseRate : version === 2 ? baseRate / 2 : baseRate / 4;
  const padding = (third >> 1) & 1;
  const samples = layer === 1 ? 384 : layer === 3 && version !== 3 ? 576 : 1152;
  const bytes =
    layer === 1
      ? (Math.floor((12_000 * kbits) / rate) + padding) * 4
      : Math.floor((samples * 125 * kbits) / rate) + padding;
  const bytesMax = Number.POSITIVE_INFINITY;
  return { bytes, seconds: samples / rate, bytesMax, kind: (second & 0x1e) | (rateIndex << 5) };
}

function bitratesOf(version: number, layer: number): readonly number[] {
  if (version !== 3) return layer === 1 ? V2_LAYER1 : V2_LAYER23;
  if (layer === 1) return V1_LAYER1;
  return layer === 2 ? V1_LAYER2 : V1_LAYER3;
}
