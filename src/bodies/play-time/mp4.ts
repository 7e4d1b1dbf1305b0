import { aacSample, alacSample } from "./mp4-codecs.ts";
import { hasText, type Sound, type SoundReader, tag, tagAt } from "./sound.ts";

const FIRST_BOXES = ["ftyp", "moov", "mdat", "free", "wide", "skip"];
const PARENTS = new Set(["moov", "trak", "mdia", "minf", "stbl", "mvex", "moof", "traf"].map(tag));
const TRACK = tag("trak");
const SOUND_HANDLER = tag("soun");
const VIDEO_HANDLER = tag("vide");
/** Codecs of text, times and hints: decoders take those of sound under each handler but that of pictures. */
const SILENT = new Set(["text", "tx3g", "wvtt", "stpp", "c608", "c708", "tmcd", "mebx", "rtp "].map(tag));
const TRACKS_MAX = 64;
const AAC = tag("mp4a");
const ALAC = tag("alac");
const SMALL_SIZES = tag("stz2");
/** The flag of a run that states the size of each sample. */
const RUN_SIZES = 0x200;

interface Track {
  /** `undefined` before it is stated. */
  id: number | undefined;
  /** Whether its handler is that of sound, or that of pictures. */
  isSound: boolean;
  isVideo: boolean;
  /** Whether its samples are described, and by a codec that has no sound. */
  isDescribed: boolean;
  isSilent: boolean;
  /** Most seconds of one sample; `undefined` for a codec that is not read. */
  sampleSeconds: number | undefined;
  samples: number;
  /** Bytes of all samples, and their average above which a sample holds several frames. */
  bytes: number;
  sampleBytesMax: number;
  /** Bytes of a sample in fragments that do not state them; `undefined` before they are stated. */
  sampleBytes: number | undefined;
}

interface Movie {
  readonly tracks: Track[];
  /** The track that the fragment being read belongs to. */
  fragment: Track | undefined;
  /** Whether decoders may play samples that were not counted, or other than they were counted. */
  isAmbiguous: boolean;
}

/** Reads the box whose body lies between two offsets. */
type ReadBox = (view: DataView, body: number, movie: Movie, end: number) => void;

const BOXES = new Map<number, ReadBox>([
  [
    tag("tkhd"),
    (view, at, movie) => {
      if (movie.tracks.at(-1)?.id !== undefined) movie.isAmbiguous = true;
      onTrack(movie, { id: view.getUint32(at + (view.getUint8(at) === 1 ? 20 : 12)) });
    },
  ],
  [tag("hdlr"), readHandler],
  [tag("stsd"), readDescription],
  [tag("stsz"), readSizes],
  [tag("stz2"), readSizes],
  [
    tag("trex"),
    (view, at, { tracks }) => setSampleBytes(tracks, view.getUint32(at + 4), view.getUint32(at + 16)),
  ],
  [
    tag("tfhd"),
    (view, at, movie) => {
      const id = view.getUint32(at + 4);
      movie.fragment = movie.tracks.find((track) => track.id === id);
      const flags = view.getUint32(at);
      const size = at + 8 + (flags & 1 ? 8 : 0) + (flags & 2 ? 4 : 0) + (flags & 8 ? 4 : 0);
      if (flags & 16) setSampleBytes(movie.tracks, id, view.getUint32(size));
    },
  ],
  [tag("trun"), readRun],
]);

/**
 * MP4, M4A and QuickTime with AAC or ALAC. Samples are counted, each as a whole frame; the durations of movie,
 * tracks and samples are not believed. With sound of another codec, and where decoders may differ, the whole file
 * is unread: samples lie anywhere in it.
 *
 * @see https://developer.apple.com/documentation/quicktime-file-format
 */
export const mp4: SoundReader = {
  matches: (view, start) => FIRST_BOXES.some((name) => hasText(view, start + 4, name)),
  count(view, start): Sound {
    const movie: Movie = { tracks: [], fragment: undefined, isAmbiguous: false };
    let at = start;
    while (at + 8 <= view.byteLength) {
      const name = tagAt(view, at + 4);
      const isLarge = view.getUint32(at) === 1;
      const body = at + (isLarge ? 16 : 8);
      const size = isLarge ? Number(view.getBigUint64(at + 8)) : view.getUint32(at);
      const end = size === 0 ? view.byteLength : Math.min(at + size, view.byteLength);
      if (end < body) break;
      if (name === TRACK && movie.tracks.length === TRACKS_MAX) break;
      if (name === TRACK) movie.tracks.push(newTrack());
      BOXES.get(name)?.(view, body, movie, end);
      at = PARENTS.has(name) ? body : end;
    }
    const unread: Sound = { seconds: 0, unreadBytes: view.byteLength };
    return sumUp(movie, Math.max(view.byteLength - at, 0)) ?? unread;
  },
};

function newTrack(): Track {
  const unknown = {
    id: undefined,
    sampleSeconds: undefined,
    samples: 0,
    bytes: 0,
    sampleBytesMax: Number.POSITIVE_INFINITY,
    sampleBytes: undefined,
  };
  return { ...unknown, isSound: false, isVideo: false, isDescribed: false, isSilent: false };
}

function sumUp({ tracks, isAmbiguous }: Movie, behind: number): Sound | undefined {
  const sounds = tracks.filter(({ isSound, isVideo, isSilent }) => isSound || !(isVideo || isSilent));
  if (isAmbiguous || sounds.some(({ sampleSeconds }) => sampleSeconds === undefined)) return undefined;
  let seconds = 0;
  let unreadBytes = behind;
  for (const { samples, sampleSeconds = 0, bytes, sampleBytesMax } of sounds) {
    seconds += samples * sampleSeconds;
    if (samples > 0 && bytes / samples > sampleBytesMax) unreadBytes += bytes;
  }
  return seconds > 0 ? { seconds, unreadBytes } : undefined;
}

function onTrack({ tracks }: Movie, change: Partial<Track>): void {
  Object.assign(tracks.at(-1) ?? {}, change);
}

function setSampleBytes(tracks: readonly Track[], id: number, bytes: number): void {
  const track = tracks.find((each) => each.id === id);
  if (track) track.sampleBytes = bytes;
}

function addSamples(track: Track | undefined, samples: number, bytes: number): void {
  if (!track) return;
  track.samples += samples;
  track.bytes += bytes;
}

/** Reads a table of sizes, each of four bytes or of the bits that the smaller kind of table states. */
function readSizes(view: DataView, at: number, movie: Movie, end: number): void {
  const samples = view.getUint32(at + 8);
  const shared = view.getUint32(at + 4);
  const isSmall = tagAt(view, at - 4) === SMALL_SIZES;
  const bits = isSmall ? shared & 0xff : 32;
  const width = Math.max(1, bits >> 3);
  let bytes = isSmall ? 0 : shared * samples;
  if (bytes === 0)
    for (let from = at + 12; from + width <= end; from += width) bytes += sizeAt(view, from, bits);
  addSamples(movie.tracks.at(-1), samples, bytes);
}

/** Of two sizes in one byte, returns their sum. */
function sizeAt(view: DataView, at: number, bits: number): number {
  if (bits === 32) return view.getUint32(at);
  if (bits === 16) return view.getUint16(at);
  return bits === 8 ? view.getUint8(at) : (view.getUint8(at) >> 4) + (view.getUint8(at) & 15);
}

/** Reads a run of samples of a fragment, whose sizes are in the run or the same for all. */
function readRun(view: DataView, at: number, movie: Movie, end: number): void {
  const { fragment } = movie;
  const flags = view.getUint32(at);
  const samples = view.getUint32(at + 4);
  const hasSizes = (flags & RUN_SIZES) !== 0;
  if (!fragment || (!hasSizes && fragment.sampleBytes === undefined)) movie.isAmbiguous = true;
  const first = at + 8 + (flags & 1 ? 4 : 0) + (flags & 4 ? 4 : 0) + (flags & 0x100 ? 4 : 0);
  const stride = [0x100, RUN_SIZES, 0x400, 0x800].filter((flag) => flags & flag).length * 4;
  let bytes = hasSizes ? 0 : samples * (fragment?.sampleBytes ?? 0);
  if (hasSizes) for (let from = first; from + 4 <= end; from += stride) bytes += view.getUint32(from);
  addSamples(fragment, samples, bytes);
}

function readHandler(view: DataView, at: number, movie: Movie): void {
  const handler = tagAt(view, at + 8);
  if (handler === SOUND_HANDLER) onTrack(movie, { isSound: true });
  if (handler === VIDEO_HANDLER) onTrack(movie, { isVideo: true });
}

/** Reads the first description of a track's samples. Sound counts as sound under any handler. */
function readDescription(view: DataView, at: number, movie: Movie, end: number): void {
  const entry = at + 8;
  const codec = tagAt(view, entry + 4);
  if (movie.tracks.at(-1)?.isDescribed) movie.isAmbiguous = true;
  const hasOne = view.getUint32(at + 4) === 1;
  onTrack(movie, { isDescribed: true, isSilent: hasOne && SILENT.has(codec) });
  if (!hasOne || (codec !== AAC && codec !== ALAC)) return;
  const rate = view.getUint16(entry + 32);
  const from = entry + 36;
  const sample = codec === AAC ? aacSample(view, from, end, rate) : alacSample(view, from, end);
  const { seconds: sampleSeconds, bytesMax: sampleBytesMax = Number.POSITIVE_INFINITY } = sample;
  onTrack(movie, { isSound: true, sampleSeconds, sampleBytesMax });
}
