import { describe, expect, test } from "bun:test";
import { readPlayTime } from "../../src/bodies/play-time/read-play-time.ts";
import {
  adtsBytes,
  box,
  flacBytes,
  id3Tag,
  mp3Bytes,
  mp4Bytes,
  repeated,
  riffChunk,
  webmBytes,
} from "../support/audio-files.ts";

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
    ["frames of AAC in one sample of MP4", withSizes(mp4Bytes(1), "stsz", sizeTable(450_000))],
    ["frames of AAC in samples of MP4 of one size", withSizes(mp4Bytes(1), "stsz", sizeTable(0, 50, 9_000))],
    ["frames of AAC in samples of MP4 with small sizes", withSizes(mp4Bytes(1), "stz2", smallSizes())],
    ["frames of AAC in a run of MP4 that states its sizes", fragmented(runOf(0x200, 450_000))],
    [
      "frames of AAC in a run of MP4 after the size of its fragment",
      fragmented(runOf(0), fragmentHead(450_000)),
    ],
    ["frames of AAC in a run of MP4 whose size is nowhere", fragmented(runOf(0))],
    ["frames of AAC behind one head of ADTS", adtsBytes(221, 2_040)],
    ["frames of FLAC in one packet of Ogg", flacPackets([repeated(FLAC_FRAME, 2_344)])],
    ["frames of FLAC whose heads pages cut", flacPackets(halves())],
    [
      "frames of FLAC in a packet that does not begin with one",
      flacPackets([Buffer.alloc(1), repeated(FLAC_FRAME, 2_344)]),
    ],
  ])("counts in full: %s", (_, bytes) => expect(readPlayTime(bytes)).toBeGreaterThanOrEqual(SECONDS * 0.999));
});

test("samples of AAC at the highest bitrate count once each, in MP4, its fragments and ADTS", () => {
  const sizes = Buffer.concat([sizeTable(), ...Array.from({ length: 100 }, () => uint32(768))]);
  sizes.writeUInt32BE(100, 8);
  expect(readPlayTime(withSizes(mp4Bytes(1), "stsz", sizes))).toBeCloseTo(6.4);
  expect(readPlayTime(fragmented(runOf(0x200, 768)))).toBeCloseTo(0.128);
  expect(readPlayTime(fragmented(runOf(0), fragmentHead(768)))).toBeCloseTo(0.128);
  expect(readPlayTime(adtsBytes(100, 775))).toBeCloseTo(6.4);
});

test("a film with AAC, pictures, chapters and a cover counts its samples of AAC", () => {
  const tracks = [track("vide", "avc1", 9_000), track("text", "text", 3), track("tmcd", "tmcd", 1)];
  const cover = box("udta", Buffer.alloc(200_000));
  expect(readPlayTime(movie(Buffer.concat([...tracks, cover]), Buffer.alloc(5_000_000)))).toBeCloseTo(0.064);
});

/** A frame of FLAC at 16 kHz that plays 256 ms. */
const FLAC_FRAME = flacBytes(1).subarray(42);

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A table of sizes: of one sample, of several of one size, or of none. */
function sizeTable(one = 0, samples = one > 0 ? 1 : 0, each = 0): Buffer {
  const table = [uint32(0), uint32(each), uint32(samples)];
  return Buffer.concat(one > 0 ? [...table, uint32(one)] : table);
}

/** Seven samples of 65,535 bytes, in fields of 16 bits. */
function smallSizes(): Buffer {
  return Buffer.concat([uint32(0), uint32(16), uint32(7), Buffer.alloc(14, 0xff)]);
}

/** Replaces the table of sizes in a file, and corrects the sizes of the boxes around it. */
function withSizes(file: Buffer, name: string, table: Buffer): Buffer {
  const start = file.indexOf("stsz") - 4;
  const end = start + file.readUInt32BE(start);
  const changed = Buffer.concat([file.subarray(0, start), box(name, table), file.subarray(end)]);
  for (const parent of ["moov", "trak", "mdia", "minf", "stbl"]) {
    const at = changed.indexOf(parent) - 4;
    changed.writeUInt32BE(changed.readUInt32BE(at) + 8 + table.length - (end - start), at);
  }
  return changed;
}

/** A run of one sample, and its size where the flags say so. */
function runOf(flags: number, bytes = 0): Buffer {
  const sizes = flags === 0x200 ? uint32(bytes) : Buffer.alloc(0);
  return box("trun", Buffer.concat([uint32(flags), uint32(1), sizes]));
}

function fragmentHead(bytes?: number): Buffer {
  const size = bytes === undefined ? [] : [uint32(bytes)];
  return box("tfhd", Buffer.concat([uint32(size.length * 16), uint32(0), ...size]));
}

/** A file of a track with one sample of AAC, and one more in a fragment. */
function fragmented(run: Buffer, head: Buffer = fragmentHead()): Buffer {
  const file = movie(Buffer.alloc(0), Buffer.alloc(0), box("moof", box("traf", Buffer.concat([head, run]))));
  return Buffer.concat([file.subarray(0, -8), box("mdat", Buffer.alloc(450_000))]);
}

/** FLAC in Ogg: each buffer in pages of its own, and as one packet. */
function flacPackets(packets: readonly Buffer[]): Buffer {
  const info = Buffer.concat([Buffer.from("\x7fFLAC\x01\0\0\x01", "latin1"), flacBytes(0)]);
  const pages = packets.flatMap((packet) => {
    const parts: Buffer[] = [];
    for (let at = 0; at < packet.length; at += 255) parts.push(packet.subarray(at, at + 255));
    return parts.map((part, index) => page([part.length], part, index === 0 ? 0 : 1));
  });
  return Buffer.concat([page([info.length], info, 2), ...pages]);
}

/** Frames whose heads are cut after their fourth byte, each half in a page of its own. */
function halves(): Buffer[] {
  const moved = Buffer.concat([FLAC_FRAME.subarray(4), FLAC_FRAME.subarray(0, 4)]);
  return [FLAC_FRAME.subarray(0, 4), ...Array.from({ length: 2_344 }, () => moved)];
}

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
