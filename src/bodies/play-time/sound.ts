/** What was counted of an audio file. */
export interface Sound {
  /** Play time of the frames that were counted. */
  readonly seconds: number;
  /** Bytes that may be sound and were not counted as frames. */
  readonly unreadBytes: number;
}

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
