import { hasText, isSampleRate, type MutableSound, type Sound, type SoundReader } from "./sound.ts";

const STREAM_INFO_AT = 8;
const RATES = [88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000];
/** The most bytes of one sample of all channels, and of what surrounds the samples of a frame. */
const BYTES_PER_SAMPLE_MAX = 32;
const FRAME_EXTRA_BYTES_MAX = 128;
const HEAD_BYTES_MAX = 16;
const WINDOW_BYTES = 4_096;

const CRC8 = Uint8Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x80 ? ((crc << 1) ^ 7) & 0xff : crc << 1;
  return crc;
});

/** The head of a FLAC frame. */
interface FlacFrame {
  readonly headBytes: number;
  readonly samples: number;
  /** `undefined` when it is that of the stream. */
  readonly rate: number | undefined;
}

interface TimedFrame extends FlacFrame {
  readonly seconds: number;
}

/**
 * FLAC. Frames are found by the checksum of their heads; the number of samples in STREAMINFO is not believed.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9639
 */
export const flac: SoundReader = {
  matches: (view, start) => hasText(view, start, "fLaC"),
  count(view, start): Sound {
    const sum = { seconds: 0, unreadBytes: 0 };
    const frames = new FlacFrames(rateOfStream(view, start + STREAM_INFO_AT), sum);
    frames.search(view, skipMetadata(view, start + 4), view.byteLength);
    return sum;
  },
};

/** Counts frames. Some decoders search all bytes for them, whatever packets hold these. */
export class FlacFrames {
  readonly #streamRate: number | undefined;
  readonly #sum: MutableSound;
  /** The most bytes that are left of the latest frame. */
  #room: number;
  /** Bytes of packets that are not searched yet. */
  readonly #window = new Uint8Array(WINDOW_BYTES);
  readonly #windowView = new DataView(this.#window.buffer);
  #kept = 0;

  constructor(streamRate: number | undefined, sum: MutableSound, room = 0) {
    this.#streamRate = streamRate;
    this.#sum = sum;
    this.#room = room;
  }

  /** Counts the frames whose heads begin before `limit` and end before `end`. Returns where it stopped. */
  search(view: DataView, start: number, limit: number, end = limit): number {
    let from = start;
    let at = start;
    while (at < limit) {
      const frame = view.getUint8(at) === 0xff ? this.#frameAt(view, at) : undefined;
      if (!frame || at + frame.headBytes > end) {
        at += 1;
        continue;
      }
      this.#skip(at - from);
      this.#add(frame);
      from = at;
      at += frame.headBytes;
    }
    this.#skip(at - from);
    return at;
  }

  /** Adds a part of a packet. A head may begin in one part and end in the next. */
  add(view: DataView, start: number, end: number): void {
    for (let at = start; at < end; at += 1) {
      this.#window[this.#kept] = view.getUint8(at);
      this.#kept += 1;
      if (this.#kept === WINDOW_BYTES) this.#slide();
    }
  }

  end(): void {
    this.search(this.#windowView, 0, this.#kept);
    this.#kept = 0;
  }

  #slide(): void {
    const searched = this.search(this.#windowView, 0, WINDOW_BYTES - HEAD_BYTES_MAX, WINDOW_BYTES);
    this.#window.copyWithin(0, searched);
    this.#kept -= searched;
  }

  #frameAt(view: DataView, at: number): TimedFrame | undefined {
    const frame = flacFrameAt(view, at);
    const rate = frame?.rate ?? this.#streamRate;
    return frame && rate !== undefined ? { ...frame, seconds: frame.samples / rate } : undefined;
  }

  #add({ samples, seconds }: TimedFrame): void {
    this.#sum.seconds += seconds;
    this.#room = samples * BYTES_PER_SAMPLE_MAX + FRAME_EXTRA_BYTES_MAX;
  }

  #skip(bytes: number): void {
    this.#sum.unreadBytes += Math.max(0, bytes - this.#room);
    this.#room = Math.max(0, this.#room - bytes);
  }
}

/** Returns the sample rate in a STREAMINFO block. */
export function rateOfStream(view: DataView, at: number): number | undefined {
  if (at + 14 > view.byteLength) return undefined;
  const rate = view.getUint32(at + 10) >>> 12;
  return isSampleRate(rate) ? rate : undefined;
}

function skipMetadata(view: DataView, start: number): number {
  let at = start;
  while (at + 4 <= view.byteLength) {
    const head = view.getUint32(at);
    const next = at + 4 + (head & 0xffffff);
    if (next > view.byteLength) return at;
    at = next;
    if (head >>> 31 === 1) break;
  }
  return at;
}

/** Returns the frame whose head stands at an offset; `undefined` unless its checksum is right. */
function flacFrameAt(view: DataView, at: number): FlacFrame | undefined {
  if (at + 6 > view.byteLength || view.getUint16(at) >> 1 !== 0x7ffc) return undefined;
  const third = view.getUint8(at + 2);
  const fourth = view.getUint8(at + 3);
  const sizeCode = third >> 4;
  const rateCode = third & 15;
  if (sizeCode === 0 || rateCode === 15 || fourth >> 4 > 10 || (fourth & 1) === 1) return undefined;
  const numberBytes = Math.max(1, Math.clz32(~(view.getUint8(at + 4) << 24)));
  let end = at + 4 + numberBytes;
  if (numberBytes > 7 || end + 5 > view.byteLength) return undefined;
  const samples = samplesOf(view, end, sizeCode);
  end += sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0;
  const rate = rateOf(view, end, rateCode);
  end += rateCode === 12 ? 1 : rateCode > 12 ? 2 : 0;
  if (rate !== undefined && !isSampleRate(rate)) return undefined;
  if (crcOf(view, at, end) !== view.getUint8(end)) return undefined;
  return { headBytes: end + 1 - at, samples, rate };
}

function samplesOf(view: DataView, at: number, code: number): number {
  if (code === 1) return 192;
  if (code < 6) return 576 << (code - 2);
  if (code === 6) return view.getUint8(at) + 1;
  return code === 7 ? view.getUint16(at) + 1 : 256 << (code - 8);
}

function rateOf(view: DataView, at: number, code: number): number | undefined {
  if (code < 12) return RATES[code - 1];
  if (code === 12) return view.getUint8(at) * 1_000;
  return view.getUint16(at) * (code === 13 ? 1 : 10);
}

function crcOf(view: DataView, from: number, end: number): number {
  let crc = 0;
  for (let at = from; at < end; at += 1) crc = CRC8[crc ^ view.getUint8(at)] ?? 0;
  return crc;
}
