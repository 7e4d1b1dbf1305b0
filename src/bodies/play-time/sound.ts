/** What was counted of an audio file. */
export interface Sound {
  /** Play time of the frames that were counted. */
  readonly seconds: number;
  /** Bytes that may be sound and were not counted as frames. */
  readonly unreadBytes: number;
}

/** A sum of sounds. */
export type MutableSound = { -readonly [Name in keyof Sound]: Sound[Name] };

/**
 * Counts the sound of one container in one pass over its bytes, with memory that does not grow with them.
 * Header fields that state a duration or a number of samples are not believed. May throw RangeError.
 */
export interface SoundReader {
  /** Whether the bytes from `start` on are of this container. */
  matches(view: DataView, start: number): boolean;
  count(view: DataView, start: number): Sound;
}

/** Sample rates above it are no sound, but would shorten the play time. */
const SAMPLE_RATE_MAX = 768_000;
const SAMPLE_RATE_MIN = 1_000;

/** The sample rates of AAC, by their index. */
export const AAC_RATES: readonly number[] = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];

/** What the standard allows one frame of AAC for each channel, 6,144 bits. */
const AAC_BYTES_PER_CHANNEL = 768;

/**
 * Returns the average of bytes above which frames of AAC hold more than one frame each, as decoders play them.
 * More than two channels share the room of two.
 */
export function aacFrameBytesMax(channels: number): number {
  return AAC_BYTES_PER_CHANNEL * (channels === 1 ? 1 : 2);
}

/** Whether decoders play sound at this sample rate. */
export function isSampleRate(rate: number): boolean {
  return rate >= SAMPLE_RATE_MIN && rate <= SAMPLE_RATE_MAX;
}

/** Whether ASCII text stands at an offset. */
export function hasText(view: DataView, at: number, text: string): boolean {
  if (at + text.length > view.byteLength) return false;
  for (let index = 0; index < text.length; index += 1) {
    if (view.getUint8(at + index) !== text.charCodeAt(index)) return false;
  }
  return true;
}

/** Returns four bytes as a number that `tag` makes of a text as well. */
export function tagAt(view: DataView, at: number): number {
  return view.getUint32(at);
}

export function tag(text: string): number {
  return Buffer.from(text, "latin1").readUInt32BE();
}

/** No packet plays longer. */
export const OPUS_PACKET_SECONDS_MAX = 0.12;

const SILK_MS = [10, 20, 40, 60];
const HYBRID_MS = [10, 20];
const CELT_MS = [2.5, 5, 10, 20];

/**
 * Returns the play time of an Opus packet by its first two bytes.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6716#section-3.1
 */
export function opusSecondsAt(view: DataView, at: number, bytes: number): number {
  if (bytes === 0) return 0;
  const head = view.getUint8(at);
  const config = head >> 3;
  const ms = config < 12 ? SILK_MS[config & 3] : config < 16 ? HYBRID_MS[config & 1] : CELT_MS[config & 3];
  const code = head & 3;
  const frames = code === 0 ? 1 : code < 3 ? 2 : bytes > 1 ? view.getUint8(at + 1) & 63 : 0;
  return Math.min(((ms ?? 0) * frames) / 1_000, OPUS_PACKET_SECONDS_MAX);
}
