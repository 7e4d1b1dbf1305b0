import { hasText, isSampleRate, type Sound, type SoundReader, tag, tagAt } from "./sound.ts";

const FIRST_BOXES = ["ftyp", "moov", "mdat", "free", "wide", "skip"];
const PARENTS = new Set(["moov", "trak", "mdia", "minf", "stbl", "moof", "traf"].map(tag));
const TRACK = tag("trak");
const SOUND_HANDLER = tag("soun");
const VIDEO_HANDLER = tag("vide");
/** Codecs of text, times and hints: decoders take those of sound under each handler but that of pictures. */
const SILENT = new Set(["text", "tx3g", "wvtt", "stpp", "c608", "c708", "tmcd", "mebx", "rtp "].map(tag));
const TRACKS_MAX = 64;
const AAC = tag("mp4a");
const ALAC = tag("alac");
const AAC_FRAME_SAMPLES = 1024;
const ALAC_FRAME_SAMPLES_MAX = 65_536;
const AAC_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];
/** Types of objects in a decoder's configuration, and of AAC in the specific one. */
const AAC_OBJECTS: readonly number[] = [0x40, 0x66, 0x67, 0x68];
const AAC_TYPES: readonly number[] = [1, 2, 3, 4, 5, 29];

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
  [tag("stsz"), (view, at, movie) => addSamples(movie.tracks.at(-1), view.getUint32(at + 8))],
  [tag("stz2"), (view, at, movie) => addSamples(movie.tracks.at(-1), view.getUint32(at + 8))],
  [
    tag("tfhd"),
    (view, at, movie) => {
      const id = view.getUint32(at + 4);
      movie.fragment = movie.tracks.find((track) => track.id === id);
    },
  ],
  [
    tag("trun"),
    (view, at, movie) => {
      if (!movie.fragment) movie.isAmbiguous = true;
      addSamples(movie.fragment, view.getUint32(at + 4));
    },
  ],
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
  const unknown = { id: undefined, sampleSeconds: undefined, samples: 0 };
  return { ...unknown, isSound: false, isVideo: false, isDescribed: false, isSilent: false };
}

function sumUp({ tracks, isAmbiguous }: Movie, behind: number): Sound | undefined {
  const sounds = tracks.filter(({ isSound, isVideo, isSilent }) => isSound || !(isVideo || isSilent));
  if (isAmbiguous || sounds.some(({ sampleSeconds }) => sampleSeconds === undefined)) return undefined;
  let seconds = 0;
  for (const { samples, sampleSeconds = 0 } of sounds) seconds += samples * sampleSeconds;
  return seconds > 0 ? { seconds, unreadBytes: behind } : undefined;
}

function onTrack({ tracks }: Movie, change: Partial<Track>): void {
  Object.assign(tracks.at(-1) ?? {}, change);
}

function addSamples(track: Track | undefined, samples: number): void {
  if (track) track.samples += samples;
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
  const read = codec === AAC ? aacSampleSeconds : alacSampleSeconds;
  onTrack(movie, { isSound: true, sampleSeconds: read(view, entry + 36, end, rate) });
}

/** The core rate counts: frames of HE-AAC play as long as those of plain AAC at half the rate. */
function aacSampleSeconds(view: DataView, from: number, end: number, stated: number): number | undefined {
  const config = findConfig(view, from, end);
  if (config === undefined) return undefined;
  const bits = view.getUint16(config);
  const rate = AAC_RATES[(bits >> 7) & 15];
  if (!AAC_TYPES.includes(bits >> 11) || rate === undefined) return undefined;
  const least = isSampleRate(stated) ? Math.min(rate, stated) : rate;
  return AAC_FRAME_SAMPLES / least;
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

function alacSampleSeconds(view: DataView, from: number, end: number): number | undefined {
  for (let at = from; at + 32 <= end; at += 1) {
    if (!hasText(view, at, "alac")) continue;
    const samples = view.getUint32(at + 8);
    const rate = view.getUint32(at + 28);
    return samples <= ALAC_FRAME_SAMPLES_MAX && isSampleRate(rate) ? samples / rate : undefined;
  }
  return undefined;
}
