import { hasText, isSampleRate, type Sound, type SoundReader, tag, tagAt } from "./sound.ts";

const HEAD_BYTES = 12;
const CHUNK_HEAD_BYTES = 8;
const CHANNELS_MAX = 64;
const WAVE_FORMATS = { pcm: 1, msAdpcm: 2, float: 3, aLaw: 6, muLaw: 7, imaAdpcm: 17, extensible: 0xfffe };
const BITS_OF_SAMPLES: Readonly<Partial<Record<number, number>>> = {
  [WAVE_FORMATS.msAdpcm]: 4,
  [WAVE_FORMATS.imaAdpcm]: 4,
  [WAVE_FORMATS.aLaw]: 8,
  [WAVE_FORMATS.muLaw]: 8,
};
const PLAIN_FORMATS: readonly number[] = [WAVE_FORMATS.pcm, WAVE_FORMATS.float];

/** How chunks of a container are read. Returns the bytes that a second takes, once the format chunk is read. */
interface Chunks {
  readonly isLittleEndian: boolean;
  readonly format: number;
  readonly sound: number;
  bytesPerSecond(view: DataView, at: number, size: number): number | undefined;
}

const WAVE: Chunks = {
  isLittleEndian: true,
  format: tag("fmt "),
  sound: tag("data"),
  bytesPerSecond: waveBytesPerSecond,
};
const AIFF: Chunks = {
  isLittleEndian: false,
  format: tag("COMM"),
  sound: tag("SSND"),
  bytesPerSecond: aiffBytesPerSecond,
};

/**
 * WAV, also as RF64. The bytes of its data chunks are divided by what the sample format takes a second.
 *
 * @see https://www.rfc-editor.org/rfc/rfc2361
 */
export const wave: SoundReader = {
  matches: (view, start) =>
    ["RIFF", "RF64", "BW64"].some((magic) => hasText(view, start, magic)) && hasText(view, start + 8, "WAVE"),
  count: (view, start) => countChunks(view, start, WAVE),
};

/** AIFF and AIFF-C. */
export const aiff: SoundReader = {
  matches: (view, start) =>
    hasText(view, start, "FORM") && (hasText(view, start + 8, "AIFF") || hasText(view, start + 8, "AIFC")),
  count: (view, start) => countChunks(view, start, AIFF),
};

/**
 * Sums all chunks of sound. A chunk that claims more bytes than there are, or 0 as writers of streams do, goes
 * to the end of the file. Bytes behind the last chunk may be sound.
 */
function countChunks(view: DataView, start: number, chunks: Chunks): Sound {
  const end = view.byteLength;
  // Decoders differ in which of two formats they take. The slowest counts; 0 is one that is not read.
  let bytesPerSecond = Number.POSITIVE_INFINITY;
  let soundBytes = 0;
  let at = start + HEAD_BYTES;
  while (at + CHUNK_HEAD_BYTES <= end) {
    const id = tagAt(view, at);
    if (!isChunkId(id)) break;
    const size = view.getUint32(at + 4, chunks.isLittleEndian);
    const body = at + CHUNK_HEAD_BYTES;
    const left = end - body;
    const isEndless = id === chunks.sound && (size === 0 || size > left);
    if (size > left && !isEndless) break;
    const length = isEndless ? left : size;
    if (id === chunks.sound) soundBytes += length;
    else if (id === chunks.format)
      bytesPerSecond = Math.min(bytesPerSecond, chunks.bytesPerSecond(view, body, size) ?? 0);
    at = body + length + (length % 2);
  }
  const behind = Math.max(end - at, 0);
  if (!Number.isFinite(bytesPerSecond) || bytesPerSecond === 0)
    return { seconds: 0, unreadBytes: soundBytes + behind };
  return { seconds: soundBytes / bytesPerSecond, unreadBytes: behind };
}

/** Whether a chunk's id is of printable ASCII, as all are. */
function isChunkId(id: number): boolean {
  for (let shift = 0; shift < 32; shift += 8) {
    const code = (id >>> shift) & 0xff;
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}

function waveBytesPerSecond(view: DataView, at: number, size: number): number | undefined {
  const stated = view.getUint16(at, true);
  // The first two bytes of the subformat of an extensible format are the format itself.
  const isExtensible = stated === WAVE_FORMATS.extensible && size >= 40;
  const format = isExtensible ? view.getUint16(at + 24, true) : stated;
  const channels = view.getUint16(at + 2, true);
  const rate = view.getUint32(at + 4, true);
  const bits = PLAIN_FORMATS.includes(format)
    ? Math.ceil(view.getUint16(at + 14, true) / 8) * 8
    : BITS_OF_SAMPLES[format];
  return productOf(channels, rate, bits);
}

/** Encodings of AIFF-C by the bits of a sample; 0 for those of the COMM chunk. */
const AIFF_BITS = new Map<number, number>([
  [tag("NONE"), 0],
  [tag("sowt"), 0],
  [tag("twos"), 0],
  [tag("raw "), 8],
  [tag("fl32"), 32],
  [tag("FL32"), 32],
  [tag("fl64"), 64],
  [tag("ulaw"), 8],
  [tag("alaw"), 8],
]);

function aiffBytesPerSecond(view: DataView, at: number, size: number): number | undefined {
  const channels = view.getUint16(at);
  const stated = Math.ceil(view.getUint16(at + 6) / 8) * 8;
  // An 80-bit float: its first 32 bits of mantissa hold every sample rate.
  const exponent = (view.getUint16(at + 8) & 0x7fff) - 16_383 - 31;
  const rate = view.getUint32(at + 10) * 2 ** exponent;
  const ofEncoding = size >= 22 ? AIFF_BITS.get(tagAt(view, at + 18)) : 0;
  return productOf(channels, rate, ofEncoding === 0 ? stated : ofEncoding);
}

function productOf(channels: number, rate: number, bits: number | undefined): number | undefined {
  if (bits === undefined || bits === 0 || bits > 64) return undefined;
  if (channels === 0 || channels > CHANNELS_MAX || !isSampleRate(rate)) return undefined;
  return (channels * rate * bits) / 8;
}
