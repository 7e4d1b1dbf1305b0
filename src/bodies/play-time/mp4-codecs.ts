import { AAC_RATES, aacFrameBytesMax, hasText, isSampleRate } from "./sound.ts";

const AAC_FRAME_SAMPLES = 1024;
const ALAC_FRAME_SAMPLES_MAX = 65_536;
/** Types of objects in a decoder's configuration, and of AAC in the specific one. */
const AAC_OBJECTS: readonly number[] = [0x40, 0x66, 0x67, 0x68];
const AAC_TYPES: readonly number[] = [1, 2, 3, 4, 5, 29];

/** What a sample of a track holds. */
interface Sample {
  /** The most seconds; `undefined` where they cannot be read. */
  readonly seconds: number | undefined;
  /** The average of bytes above which a sample holds several frames. Default: unbounded. */
  readonly bytesMax?: number;
}

const UNKNOWN_SAMPLE: Sample = { seconds: undefined };

/** The core rate counts: frames of HE-AAC play as long as those of plain AAC at half the rate. */
export function aacSample(view: DataView, from: number, end: number, stated: number): Sample {
  const config = findConfig(view, from, end);
  if (config === undefined) return UNKNOWN_SAMPLE;
  const bits = view.getUint16(config);
  const rate = AAC_RATES[(bits >> 7) & 15];
  if (!AAC_TYPES.includes(bits >> 11) || rate === undefined) return UNKNOWN_SAMPLE;
  const least = isSampleRate(stated) ? Math.min(rate, stated) : rate;
  return { seconds: AAC_FRAME_SAMPLES / least, bytesMax: aacFrameBytesMax((bits >> 3) & 15) };
}

/** Returns the offset of AAC's own configuration within the boxes of a sample description. */
function findConfig(view: DataView, from: number, end: number): number | undefined {
  for (let at = from; at + 26 < end; at += 1) {
    if (!hasText(view, at, "esds")) continue;
    let next = skipDescriptorHead(view, at + 8) + 3;
    next = skipDescriptorHead(view, next);
    if (!AAC_OBJECTS.includes(view.getUint8(next))) return undefined;
    return skipDescriptorHead(view, next + 13);
  }
  return undefined;
}

/** Skips the tag and the size of a descriptor; a size has up to four bytes. */
function skipDescriptorHead(view: DataView, at: number): number {
  let next = at + 1;
  for (let bytes = 0; bytes < 3 && view.getUint8(next) >= 0x80; bytes += 1) next += 1;
  return next + 1;
}

/** Decoders play one frame of ALAC in a sample, whatever its bytes. */
export function alacSample(view: DataView, from: number, end: number): Sample {
  for (let at = from; at + 32 <= end; at += 1) {
    if (!hasText(view, at, "alac")) continue;
    const samples = view.getUint32(at + 8);
    const rate = view.getUint32(at + 28);
    return samples <= ALAC_FRAME_SAMPLES_MAX && isSampleRate(rate)
      ? { seconds: samples / rate }
      : UNKNOWN_SAMPLE;
  }
  return UNKNOWN_SAMPLE;
}
