import { hasText, OPUS_PACKET_SECONDS_MAX, opusSecondsAt, type Sound, type SoundReader } from "./sound.ts";

const EBML = 0x1a45dfa3;
/** Elements whose children are read: Segment, Cluster, BlockGroup, Tracks and TrackEntry. */
const CLUSTER = 0x1f43b675;
const TRACK_ENTRY = 0xae;
const PARENTS: ReadonlySet<number> = new Set([0x18538067, CLUSTER, 0xa0, 0x1654ae6b, TRACK_ENTRY]);
const TRACK_NUMBER = 0xd7;
const TRACK_TYPE = 0x83;
const CODEC_ID = 0x86;
const CONTENT_ENCODINGS = 0x6d80;
const SIMPLE_BLOCK = 0xa3;
const BLOCK = 0xa1;
const AUDIO = 2;
const TRACKS_MAX = 64;
/** Elements that are read, half a second of work; a recording of eleven hours has as many. */
const ELEMENTS_MAX = 2_000_000;
/** Above every number of so many bytes beside its marker bit. */
const LIMITS = Array.from({ length: 9 }, (_, bytes) => 2 ** (7 * bytes));

interface Track {
  number: number;
  /** Fields are read wherever they stand. Of several types one of audio counts; of several codecs none is Opus. */
  type: "audio" | "other" | undefined;
  /** Whether its blocks are plain packets of Opus. */
  isOpus: boolean | undefined;
}

/**
 * WebM and Matroska with Opus, as browsers record it. Packets are counted; durations and times of blocks are
 * not believed. Sound of other codecs is unread, and so is the rest after a broken element and after two million.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9559
 */
export const matroska: SoundReader = {
  matches: (view, start) => start + 4 <= view.byteLength && view.getUint32(start) === EBML,
  count(view, start): Sound {
    const tracks: Track[] = [];
    let seconds = 0;
    let unreadBytes = 0;
    let at = start;
    for (let elements = 0; at < view.byteLength; elements += 1) {
      const element = elements < ELEMENTS_MAX ? elementAt(view, at) : undefined;
      if (!element) return { seconds, unreadBytes: unreadBytes + view.byteLength - at };
      const { id, body, end } = element;
      if (id === SIMPLE_BLOCK || id === BLOCK) {
        const played = playBlock(view, body, end, tracks);
        if (played === undefined) unreadBytes += end - body;
        else seconds += played;
      } else if (id === TRACK_ENTRY) {
        if (tracks.length === TRACKS_MAX) return { seconds: 0, unreadBytes: view.byteLength };
        tracks.push({ number: -1, type: undefined, isOpus: undefined });
      } else readTrackField(view, element, tracks.at(-1));
      at = PARENTS.has(id) ? body : end;
    }
    return { seconds, unreadBytes };
  },
};

interface Element {
  readonly id: number;
  readonly body: number;
  readonly end: number;
}

/** Returns the element at an offset; `undefined` for one that is broken or goes beyond the file. */
function elementAt(view: DataView, at: number): Element | undefined {
  const idBytes = Math.clz32(view.getUint8(at)) - 23;
  if (idBytes > 4 || at + idBytes >= view.byteLength) return undefined;
  const id = readNumber(view, at, idBytes);
  const sizeAt = at + idBytes;
  const sizeBytes = Math.clz32(view.getUint8(sizeAt)) - 23;
  const body = sizeAt + sizeBytes;
  if (sizeBytes > 8 || body > view.byteLength) return undefined;
  const limit = LIMITS[sizeBytes] ?? 0;
  const size = readUnmarked(view, sizeAt, sizeBytes);
  // Recorders of streams leave the sizes of parents unknown.
  if (PARENTS.has(id)) return { id, body, end: body };
  return size < limit - 1 && body + size <= view.byteLength ? { id, body, end: body + size } : undefined;
}

/** Returns a number without the marker bit of its length, which is bit 56 of the longest. */
function readUnmarked(view: DataView, at: number, bytes: number): number {
  return readNumber(view, at, bytes, view.getUint8(at) & (0xff >> bytes));
}

function readNumber(view: DataView, at: number, bytes: number, first = view.getUint8(at)): number {
  let value = first;
  for (let index = 1; index < bytes; index += 1) value = value * 256 + view.getUint8(at + index);
  return value;
}

function readTrackField(view: DataView, { id, body, end }: Element, track: Track | undefined): void {
  if (!track) return;
  if (id === TRACK_NUMBER) track.number = readNumber(view, body, Math.min(end - body, 6));
  else if (id === TRACK_TYPE) {
    const isAudio = readNumber(view, body, Math.min(end - body, 6)) === AUDIO;
    track.type = isAudio || track.type === "audio" ? "audio" : "other";
  } else if (id === CODEC_ID)
    track.isOpus = track.isOpus === undefined && end - body >= 6 && hasText(view, body, "A_OPUS");
  // Encodings may remove the first bytes of packets.
  else if (id === CONTENT_ENCODINGS) track.number = -1;
}

/** Returns the play time of a block; `undefined` where it cannot be read. */
function playBlock(view: DataView, body: number, end: number, tracks: readonly Track[]): number | undefined {
  const numberBytes = Math.clz32(view.getUint8(body)) - 23;
  const flagsAt = body + numberBytes + 2;
  if (numberBytes > 8 || flagsAt >= end) return undefined;
  const number = readUnmarked(view, body, numberBytes);
  const track = tracks.find((each) => each.number === number);
  if (!track) return undefined;
  if (track.type === "other") return 0;
  if (!track.isOpus) return undefined;
  const isLaced = (view.getUint8(flagsAt) & 6) !== 0;
  if (!isLaced) return opusSecondsAt(view, flagsAt + 1, end - flagsAt - 1);
  return flagsAt + 1 < end ? (view.getUint8(flagsAt + 1) + 1) * OPUS_PACKET_SECONDS_MAX : undefined;
}
