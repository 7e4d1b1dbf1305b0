import { describe, expect, test } from "bun:test";
import { readPlayTime } from "../../src/bodies/play-time/read-play-time.ts";
import { box, id3Tag, mp3Bytes, mp4Bytes, repeated, riffChunk, webmBytes } from "../support/audio-files.ts";

const SECONDS = 600;
const OPUS_HEAD = Buffer.from("OpusHead\x01\x01\0\0\0\0\0\0\0\0\0", "latin1");
/** A packet of 60 ms at 6 kbit/s. Its first byte is that of a header in Vorbis. */
const OPUS_60_MS = Buffer.alloc(45, 0x19);

describe("ten minutes of sound that decoders find and a count may miss", () => {
  test.each([
    ["MP3 within an ID3 tag whose size breaks the form", brokenTag()],
    ["Ogg packets behind one that its next page does not continue", danglingPackets()],
    ["an Ogg stream behind another one of its number", sameSerial()],
    ["a WebM track whose type is stated again behind it", restatedType()],
    ["a WAV file of two formats", twoFormats()],
    ["an MP4 track of Opus under the handler of text", movie(opusTrack("text"), Buffer.alloc(450_000))],
    ["an MP4 file with its sound in a free box", freeBox()],
    ["MP4 fragments of a track whose number is stated again", fragments()],
    ["an MP4 track of Opus that is described again as AAC", movie(describedAgain(), Buffer.alloc(450_000))],
  ])("counts in full: %s", (_, bytes) => {
    expect(readPlayTime(bytes)).toBeGreaterThanOrEqual(SECONDS * 0.999);
  });
});

test("a film with AAC, pictures, chapters and a cover counts its samples of AAC", () => {
  const tracks = [track("vide", "avc1", 9_000), track("text", "text", 3), track("tmcd", "tmcd", 1)];
  const cover = box("udta", Buffer.alloc(200_000));
  expect(readPlayTime(movie(Buffer.concat([...tracks, cover]), Buffer.alloc(5_000_000)))).toBeCloseTo(0.064);
});

function brokenTag(): Buffer {
  const tag = id3Tag(mp3Bytes(25_000));
  tag.writeUInt8(tag.readUInt8(6) | 0x80, 6);
  return Buffer.concat([tag, mp3Bytes(10)]);
}

/** A page of Ogg: the bytes of its segments, and its flags. */
function page(segments: readonly number[], body: Buffer, flags = 0): Buffer {
  const head = Buffer.alloc(27);
  head.write("OggS");
  head.writeUInt8(flags, 5);
  head.writeUInt8(segments.length, 26);
  return Buffer.concat([head, Buffer.from(segments), body]);
}

/** Each page ends in a segment of 255 bytes, whose packet of 2.5 ms goes on and is not continued. */
function danglingPackets(): Buffer {
  const next = page([45, 255], Buffer.concat([OPUS_60_MS, Buffer.alloc(255, 0x80)]));
  return Buffer.concat([page([OPUS_HEAD.length], OPUS_HEAD, 2), repeated(next, 10_000)]);
}

/** Vorbis with blocks of 64 samples at 768 kHz, one of its packets, and Opus. */
function sameSerial(): Buffer {
  const vorbis = Buffer.alloc(30);
  vorbis.write("\x01vorbis", "latin1");
  vorbis.writeUInt32LE(768_000, 12);
  vorbis.writeUInt8(0x66, 28);
  const next = page(
    Array.from({ length: 100 }, () => 45),
    repeated(OPUS_60_MS, 100),
  );
  const first = [page([30], vorbis, 2), page([2], Buffer.alloc(2))];
  return Buffer.concat([...first, page([OPUS_HEAD.length], OPUS_HEAD, 2), repeated(next, 100)]);
}

/** The type of pictures stands behind the entry of the track, and a broken element ends the file. */
function restatedType(): Buffer {
  const file = webmBytes(30_000);
  const cluster = file.indexOf("1f43b675", 0, "hex");
  const type = Buffer.from("838101", "hex");
  return Buffer.concat([file.subarray(0, cluster), type, file.subarray(cluster), Buffer.alloc(1)]);
}

function twoFormats(): Buffer {
  const chunks = [waveFormat(768_000, 64, 64), waveFormat(8_000, 1, 8)];
  const sound = riffChunk("data", Buffer.alloc(SECONDS * 8_000));
  return riffChunk("RIFF", Buffer.concat([Buffer.from("WAVE"), ...chunks, sound]));
}

function waveFormat(rate: number, channels: number, bits: number): Buffer {
  const format = Buffer.alloc(16);
  format.writeUInt16LE(1, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(rate, 4);
  format.writeUInt16LE(bits, 14);
  return riffChunk("fmt ", format);
}

/** The track of a file with one sample of AAC: its boxes without the head of `moov`. */
function aacTrack(): Buffer {
  const file = mp4Bytes(1);
  const start = file.indexOf("moov") - 4;
  return file.subarray(start + 8, start + file.readUInt32BE(start));
}

/** A file with a track of one sample of AAC, others, and media. */
function movie(others: Buffer, media: Buffer, fragment: Buffer = Buffer.alloc(0)): Buffer {
  const tracks = box("moov", Buffer.concat([aacTrack(), others]));
  return Buffer.concat([box("ftyp", Buffer.alloc(8)), tracks, fragment, box("mdat", media)]);
}

function track(handler: string, codec: string, samples: number): Buffer {
  const kind = Buffer.alloc(24);
  kind.write(handler, 8);
  const sizes = Buffer.alloc(12);
  sizes.writeUInt32BE(samples, 8);
  const entry = Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]), box(codec, Buffer.alloc(28))]);
  const table = Buffer.concat([box("stsd", entry), box("stsz", sizes)]);
  const media = Buffer.concat([box("hdlr", kind), box("minf", box("stbl", table))]);
  return box("trak", Buffer.concat([box("tkhd", Buffer.alloc(84)), box("mdia", media)]));
}

function opusTrack(handler: string): Buffer {
  return track(handler, "Opus", 10_000);
}

function freeBox(): Buffer {
  const tracks = box("moov", opusTrack("soun"));
  const boxes = [tracks, box("mdat", Buffer.alloc(1)), box("free", Buffer.alloc(450_000))];
  return Buffer.concat([box("ftyp", Buffer.alloc(8)), ...boxes]);
}

/** A second description of samples, that of the track of AAC at 96 kHz. */
function describedAgain(): Buffer {
  const tracks = aacTrack();
  const start = tracks.indexOf("stsd") - 4;
  const description = Buffer.from(tracks.subarray(start, start + tracks.readUInt32BE(start)));
  description.writeUInt16BE(0x1008, description.indexOf("05021408", 0, "hex") + 2);
  description.writeUInt16BE(0, 48);
  return Buffer.concat([opusTrack("soun"), description]);
}

function fragments(): Buffer {
  const restated = Buffer.alloc(84);
  restated.writeUInt32BE(9, 12);
  const run = Buffer.alloc(8);
  run.writeUInt32BE(9_375, 4);
  const parts = Buffer.concat([box("tfhd", Buffer.alloc(8)), box("trun", run)]);
  return movie(box("tkhd", restated), Buffer.alloc(450_000), box("moof", box("traf", parts)));
}
