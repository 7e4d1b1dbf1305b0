import { describe, expect, test } from "bun:test";
import { readPlayTime } from "../../src/bodies/play-time/read-play-time.ts";
import {
  adtsBytes,
  box,
  flacBytes,
  id3Tag,
  mp3Bytes,
  mp4Bytes,
  oggOpusBytes,
  oggVorbisBytes,
  repeated,
  riffChunk,
  waveBytes,
  webmBytes,
} from "../support/audio-files.ts";
import { cpuMs } from "../support/cpu-time.ts";

/** A header of MP3 that states a single frame for the whole file. */
const XING = Buffer.from("fff314c4000000000000000058696e670000000100000001", "hex");
const LARGE = 12 * 1024 * 1024;
const filled = (unit: Buffer) => repeated(unit, Math.floor(LARGE / unit.length));

describe("the play time of an audio file", () => {
  test.each([
    ["WAV by its samples", waveBytes(600), 600],
    ["MP3 by its frames", mp3Bytes(1_000), 24],
    ["MP3 behind an ID3 tag", mp3Bytes(1_000, id3Tag(Buffer.alloc(50_000, 0xff))), 24],
    ["AAC by its frames", adtsBytes(1_000), 64],
    ["FLAC by its frames", flacBytes(1_000), 256],
    ["Opus in Ogg by its packets", oggOpusBytes(1_000), 20],
    ["Opus in WebM by its packets", webmBytes(1_000), 20],
    ["AAC in MP4 by its samples", mp4Bytes(1_000), 64],
    ["Vorbis in Ogg by packets of long blocks", oggVorbisBytes(1_000), 64],
    ["AMR by its frames", Buffer.concat([Buffer.from("#!AMR\n"), Buffer.alloc(1_300, 4)]), 2],
  ])("is counted of %s", (_, bytes, seconds) => expect(readPlayTime(bytes)).toBeCloseTo(seconds, 1));

  test.each([
    [
      "a fact chunk of one sample",
      waveBytes(600, { before: [riffChunk("fact", Buffer.from([1, 0, 0, 0]))] }),
    ],
    ["a byte rate of gigabytes", waveBytes(600, { statedByteRate: 0xffffffff })],
    ["a data chunk that states no bytes", endlessWave(0)],
    ["a data chunk of unknown size", endlessWave(0xffffffff)],
    ["a Xing head of one frame", mp3Bytes(25_000, XING)],
    ["granules of one sample", oggOpusBytes(30_000)],
    ["a duration of one millisecond", webmBytes(30_000)],
    ["a movie of one unit", mp4Bytes(9_375)],
    ["a STREAMINFO of one sample", flacBytes(2_344)],
  ])("is not lowered to less than its ten minutes by %s", (_, bytes) => {
    expect(readPlayTime(bytes)).toBeGreaterThanOrEqual(599.9);
    expect(readPlayTime(bytes)).toBeLessThan(602);
  });

  test.each([
    ["noise", Buffer.alloc(75_000, 7)],
    ["a Musepack head", Buffer.concat([Buffer.from("MPCK"), Buffer.alloc(74_996)])],
    [
      "a movie without sound",
      Buffer.concat([box("ftyp", Buffer.alloc(8)), box("mdat", Buffer.alloc(75_000))]),
    ],
    [
      "a WAV file without a format",
      riffChunk("RIFF", Buffer.concat([Buffer.from("WAVE"), riffChunk("data", Buffer.alloc(75_000))])),
    ],
    ["a WAV file of an unknown codec", Buffer.concat([codecWave(0x31), Buffer.alloc(0)])],
  ])("is at least that of 6 kbit/s for %s", (_, bytes) => {
    expect(readPlayTime(bytes)).toBeGreaterThanOrEqual(100);
    expect(readPlayTime(bytes)).toBeLessThan(101);
  });

  test("counts bytes between frames as sound of 6 kbit/s", () => {
    const bytes = Buffer.concat([mp3Bytes(1_000), Buffer.alloc(75_000), mp3Bytes(1_000)]);
    expect(readPlayTime(bytes)).toBeCloseTo(148, 1);
  });

  test("never throws for the beginning of a file, and counts no less for its first bytes", () => {
    for (const whole of [
      waveBytes(1),
      flacBytes(9),
      oggOpusBytes(9),
      webmBytes(9),
      mp4Bytes(9),
      adtsBytes(9),
    ])
      for (let length = 0; length < Math.min(whole.length, 700); length += 1)
        expect(readPlayTime(whole.subarray(0, length))).toBeGreaterThanOrEqual(0);
  });

  test.each([
    [
      "8-byte trak boxes",
      Buffer.concat([box("ftyp", Buffer.alloc(8)), filled(box("trak", Buffer.alloc(0)))]),
    ],
    ["ID3 tags of text", filled(id3Tag(Buffer.from("TXXX\0\0\0\x05\0\0\0a\0b\0")))],
    [
      "one ID3 tag of many frames",
      id3Tag(filled(Buffer.from("TXXX\0\0\0\x05\0\0\0a\0b\0")).subarray(0, LARGE)),
    ],
    ["LIST chunks", Buffer.concat([waveBytes(1), filled(riffChunk("LIST", Buffer.from("INFO")))])],
    ["empty Musepack packets", Buffer.concat([Buffer.from("MPCK"), filled(Buffer.from("AP\x03"))])],
    ["MP3 frames of 24 bytes", mp3Bytes(LARGE / 24)],
    ["AAC frames of 7 bytes", adtsBytes(LARGE / 7, 7)],
    ["sync bytes", Buffer.concat([mp3Bytes(2), Buffer.alloc(LARGE, 0xff)])],
    ["heads of FLAC frames", Buffer.concat([flacBytes(1), filled(Buffer.from([0xff, 0xf8, 0xc5, 0x08]))])],
    ["empty Ogg pages", Buffer.concat([oggOpusBytes(1), filled(emptyPage())])],
    ["EBML blocks of no bytes", Buffer.concat([webmBytes(1), filled(Buffer.from([0xa3, 0x80]))])],
    ["EBML tracks", Buffer.concat([webmBytes(1), filled(Buffer.from([0xae, 0x80]))])],
    ["bytes of AMR", Buffer.concat([Buffer.from("#!AMR\n"), Buffer.alloc(LARGE, 0x7c)])],
  ])("is counted of 12 MiB of %s with the CPU time of a few passes over the bytes", (_, bytes) => {
    const pass = cpuMs(() => sumOf(bytes));
    const counted = cpuMs(() => readPlayTime(bytes));
    // A pass takes some 12 ms; a parser that keeps what it reads took a thousand times as long.
    expect(counted).toBeLessThan(40 * Math.max(pass, 15));
  });
});

function sumOf(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) sum += byte;
  return sum;
}

function endlessWave(statedBytes: number): Buffer {
  const whole = waveBytes(600);
  whole.writeUInt32LE(statedBytes, 40);
  return whole;
}

function codecWave(format: number): Buffer {
  const whole = waveBytes(75_000 / 16_000);
  whole.writeUInt16LE(format, 20);
  return whole;
}

function emptyPage(): Buffer {
  const page = Buffer.alloc(27);
  page.write("OggS");
  return page;
}
