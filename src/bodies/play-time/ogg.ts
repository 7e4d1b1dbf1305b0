import { FlacFrames, rateOfStream } from "./flac.ts";
import {
  hasText,
  isSampleRate,
  type MutableSound,
  opusSecondsAt,
  type Sound,
  type SoundReader,
  tag,
  tagAt,
} from "./sound.ts";

const CAPTURE = tag("OggS");
const PAGE_HEAD_BYTES = 27;
/** Flags of a page: it begins within a packet, or it is the first one of its stream. */
const CONTINUES = 1;
const BEGINS = 2;
/** The packets of more streams than this count as unread. */
const STREAMS_MAX = 64;
/** Offset of the STREAMINFO block in the first packet of FLAC. */
const FLAC_INFO_AT = 17;

/** Adds a packet, or the part of it that a page has. */
type ReadPart = (view: DataView, part: Part, sum: MutableSound) => void;

interface Part {
  readonly at: number;
  readonly bytes: number;
  /** Whether the page before has the beginning of the packet. */
  readonly isInside: boolean;
}

/** Returns the play time of one packet by its beginning; `undefined` where it cannot be read. */
type ReadPacket = (view: DataView, at: number, bytes: number) => number | undefined;

interface Stream {
  read: ReadPart;
  /** Reads what is left at the end of the file. */
  end?(): void;
  /** Whether the last packet goes on in the next page. */
  isContinued: boolean;
}

const READ_NOTHING: ReadPart = (_, { bytes }, sum) => {
  sum.unreadBytes += bytes;
};
const READ_VIDEO: ReadPart = () => {};

/**
 * Ogg with Opus, Vorbis or FLAC. Packets are counted; the times that pages state are not believed.
 *
 * @see https://www.rfc-editor.org/rfc/rfc3533
 */
export const ogg: SoundReader = {
  matches: (view, start) => hasText(view, start, "OggS"),
  count(view, start): Sound {
    const streams = new Map<number, Stream>();
    const sum = { seconds: 0, unreadBytes: 0 };
    let at = start;
    while (at + PAGE_HEAD_BYTES <= view.byteLength) {
      const end = tagAt(view, at) === CAPTURE ? readPage(view, at, streams, sum) : at;
      if (end === at) sum.unreadBytes += 1;
      at = Math.max(end, at + 1);
    }
    for (const stream of streams.values()) stream.end?.();
    return sum;
  },
};

/** Adds the packets of a page, and returns its end; its own offset for a page that goes beyond the file. */
function readPage(view: DataView, page: number, streams: Map<number, Stream>, sum: MutableSound): number {
  const segments = view.getUint8(page + 26);
  const lacing = page + PAGE_HEAD_BYTES;
  let at = lacing + segments;
  if (at > view.byteLength) return page;
  const serial = view.getUint32(page + 14);
  const flags = view.getUint8(page + 5);
  const known = streams.get(serial);
  const isKept = streams.size < STREAMS_MAX;
  const stream = known ?? openStream(view, at, isKept, sum);
  if (isKept) streams.set(serial, stream);
  // Decoders differ in which of two streams of one number they play.
  if (known && (flags & BEGINS) !== 0) known.read = READ_NOTHING;
  let packet = at;
  // Decoders drop a packet that the next page does not continue, and play the first one of that page.
  let isInside = stream.isContinued && (flags & CONTINUES) !== 0;
  for (let index = 0; index < segments; index += 1) {
    const bytes = view.getUint8(lacing + index);
    at += bytes;
    if (at > view.byteLength) return page;
    if (bytes === 255 && index < segments - 1) continue;
    stream.read(view, { at: packet, bytes: at - packet, isInside }, sum);
    isInside = bytes === 255;
    packet = at;
  }
  stream.isContinued = isInside;
  return at;
}

/** Reads packets that decoders play by their beginning, whatever follows it. */
function byBeginning(secondsOf: ReadPacket): ReadPart {
  return (view, { at, bytes, isInside }, sum) => {
    if (isInside) return;
    const seconds = secondsOf(view, at, bytes);
    if (seconds === undefined) sum.unreadBytes += bytes;
    else sum.seconds += seconds;
  };
}

/** Opens a stream by its first packet. */
function openStream(view: DataView, at: number, isKept: boolean, sum: MutableSound): Stream {
  if (!isKept) return { read: READ_NOTHING, isContinued: false };
  if (hasText(view, at, "\x7fFLAC")) return flacStream(view, at, sum);
  return { read: readerOf(view, at), isContinued: false };
}

function readerOf(view: DataView, at: number): ReadPart {
  if (hasText(view, at, "OpusHead")) return readOpus;
  if (hasText(view, at, "\x01vorbis")) return vorbisReader(view, at);
  return hasText(view, at, "\x80theora") ? READ_VIDEO : READ_NOTHING;
}

const readOpus = byBeginning((view, at, bytes) =>
  hasText(view, at, "OpusHead") || hasText(view, at, "OpusTags") ? 0 : opusSecondsAt(view, at, bytes),
);

/** A packet of Vorbis plays half its block at most; all count as long blocks. Packets of headers are odd. */
function vorbisReader(view: DataView, at: number): ReadPart {
  if (at + 29 > view.byteLength) return READ_NOTHING;
  const rate = view.getUint32(at + 12, true);
  const longBlock = 1 << (view.getUint8(at + 28) >> 4);
  if (!isSampleRate(rate)) return READ_NOTHING;
  const seconds = longBlock / 2 / rate;
  return byBeginning((packets, from, bytes) =>
    bytes === 0 || (packets.getUint8(from) & 1) === 1 ? 0 : seconds,
  );
}

/** A packet may hold several frames. Before the first one, all packets are of metadata. */
function flacStream(view: DataView, at: number, sum: MutableSound): Stream {
  const frames = new FlacFrames(rateOfStream(view, at + FLAC_INFO_AT), sum, Number.POSITIVE_INFINITY);
  return {
    read: (packets, part) => frames.add(packets, part.at, part.at + part.bytes),
    end: () => frames.end(),
    isContinued: false,
  };
}
