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
