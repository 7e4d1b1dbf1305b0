interface WaveOptions {
  /** Chunks before the samples. */
  readonly before?: readonly Buffer[];
  /** Byte rate that the head states. */
  readonly statedByteRate?: number;
}

/** A WAV file of silence: mono, 16-bit samples at 8 kHz. */
export function wavFile(seconds: number, options: WaveOptions = {}): File {
  return new File([waveBytes(seconds, options)], "speech.wav", { type: "audio/wav" });
}

export function waveBytes(
  seconds: number,
  { before = [], statedByteRate = 16_000 }: WaveOptions = {},
): Buffer<ArrayBuffer> {
  const bytes = Math.round(seconds * 8_000) * 2;
  const format = Buffer.alloc(16);
  format.writeUInt16LE(1, 0);
  format.writeUInt16LE(1, 2);
  format.writeUInt32LE(8_000, 4);
  format.writeUInt32LE(statedByteRate, 8);
  format.writeUInt16LE(2, 12);
  format.writeUInt16LE(16, 14);
  const chunks = [riffChunk("fmt ", format), ...before, riffChunk("data", Buffer.alloc(bytes))];
  return riffChunk("RIFF", Buffer.concat([Buffer.from("WAVE"), ...chunks]));
}

/** A chunk of RIFF; `statedBytes` replaces its true size. */
export function riffChunk(id: string, body: Buffer, statedBytes = body.length): Buffer<ArrayBuffer> {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(statedBytes);
  return Buffer.concat([Buffer.from(id), size, body]);
}

/** Frames of MP3: MPEG-2 at 24 kHz and 8 kbit/s, 24 bytes that play 24 ms each. */
export function mp3Bytes(frames: number, first: Buffer = Buffer.alloc(0)): Buffer {
  const frame = Buffer.alloc(24);
  frame.set([0xff, 0xf3, 0x14, 0xc4]);
  return Buffer.concat([first, repeated(frame, frames)]);
}

/** Frames of AAC in ADTS at 16 kHz, of 64 ms each. */
export function adtsBytes(frames: number, frameBytes = 40): Buffer {
  const frame = Buffer.alloc(frameBytes);
  frame.set([0xff, 0xf1, 0x60, 0x40, frameBytes >> 3, ((frameBytes & 7) << 5) | 0x1f, 0xfc]);
  return repeated(frame, frames);
}

/** Frames of FLAC at 16 kHz with 4,096 samples each; STREAMINFO states one sample. */
export function flacBytes(frames: number): Buffer {
  const info = Buffer.alloc(38);
  info.set([0x80, 0, 0, 34], 0);
  info.writeUInt32BE(16_000 * 4_096, 14);
  info[21] = 1;
  const frame = Buffer.alloc(14);
  frame.set([0xff, 0xf8, 0xc5, 0x08, 0]);
  frame[5] = crc8(frame.subarray(0, 5));
  return Buffer.concat([Buffer.from("fLaC"), info, repeated(frame, frames)]);
}

function crc8(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x80 ? ((crc << 1) ^ 7) & 0xff : crc << 1;
  }
  return crc;
}

/** Packets of Opus in Ogg, of 20 ms and 10 bytes each; every page states that one sample was played. */
export function oggOpusBytes(packets: number): Buffer {
  const packet = Buffer.alloc(10);
  packet[0] = 0x48;
  const pages: Buffer[] = [
    oggPage([Buffer.from("OpusHead\x01\x01\0\0\0\0\0\0\0\0\0", "latin1")]),
    oggPage([Buffer.from("OpusTags\0\0\0\0\0\0\0\0", "latin1")]),
  ];
  for (let left = packets; left > 0; left -= 200)
    pages.push(oggPage(Array.from({ length: Math.min(left, 200) }, () => packet)));
  return Buffer.concat(pages);
}

/** Packets of Vorbis in Ogg at 16 kHz with blocks of 2,048 samples: 64 ms at most for each packet. */
export function oggVorbisBytes(packets: number): Buffer {
  const head = Buffer.alloc(30);
  head.write("\x01vorbis", "latin1");
  head[11] = 1;
  head.writeUInt32LE(16_000, 12);
  head[28] = 0xb8;
  const others = ["\x03vorbis", "\x05vorbis"].map((text) => Buffer.from(text, "latin1"));
  const pages = [oggPage([head]), oggPage(others)];
  for (let left = packets; left > 0; left -= 200)
    pages.push(oggPage(Array.from({ length: Math.min(left, 200) }, () => Buffer.alloc(12))));
  return Buffer.concat(pages);
}

/** A page of packets below 255 bytes. */
function oggPage(packets: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(27);
  head.write("OggS");
  head.writeBigUInt64LE(1n, 6);
  head.writeUInt32LE(7, 14);
  head[26] = packets.length;
  return Buffer.concat([head, Buffer.from(packets.map(({ length }) => length)), ...packets]);
}

/** A recording of a browser: Opus in WebM, 20 ms a block; the duration states one millisecond. */
export function webmBytes(blocks: number): Buffer {
  const duration = Buffer.alloc(8);
  duration.writeDoubleBE(1);
  const track = [
    element("d7", Buffer.from([1])),
    element("83", Buffer.from([2])),
    element("86", Buffer.from("A_OPUS")),
  ];
  const block = element("a3", Buffer.from([0x81, 0, 0, 0x80, 0x48, 0, 0, 0, 0, 0]));
  return Buffer.concat([
    element("1a45dfa3", element("4282", Buffer.from("webm"))),
    Buffer.from("1853806701ffffffffffffff", "hex"),
    // A size of eight bytes.
    Buffer.from("ec0100000000000052", "hex"),
    Buffer.alloc(0x52),
    element("1549a966", element("4489", duration)),
    element("1654ae6b", element("ae", Buffer.concat(track))),
    Buffer.from("1f43b67501ffffffffffffff", "hex"),
    repeated(block, blocks),
  ]);
}

function element(id: string, body: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(0x10000000 | body.length);
  return Buffer.concat([Buffer.from(id, "hex"), size, body]);
}

/** AAC in MP4 at 16 kHz, 64 ms a sample; movie, track and samples state a play time of one unit. */
export function mp4Bytes(samples: number): Buffer {
  const sizes = Buffer.alloc(12 + samples * 4);
  sizes.writeUInt32BE(samples, 8);
  for (let index = 0; index < samples; index += 1) sizes.writeUInt32BE(20, 12 + index * 4);
  const handler = Buffer.alloc(24);
  handler.write("soun", 8);
  const table = Buffer.concat([box("stsd", sampleDescription()), box("stsz", sizes)]);
  const media = Buffer.concat([box("hdlr", handler), box("minf", box("stbl", table))]);
  const header = Buffer.alloc(100);
  header.writeUInt32BE(1, 12);
  header.writeUInt32BE(1, 16);
  const track = Buffer.concat([box("tkhd", Buffer.alloc(84)), box("mdia", media)]);
  return Buffer.concat([
    box("ftyp", Buffer.from("M4A \0\0\0\0")),
    box("moov", Buffer.concat([box("mvhd", header), box("trak", track)])),
    box("mdat", Buffer.alloc(samples * 20)),
  ]);
}

function sampleDescription(): Buffer {
  const entry = Buffer.alloc(28);
  entry.writeUInt16BE(1, 16);
  entry.writeUInt16BE(16_000, 24);
  const config = Buffer.from("00000000031900010004114015000000000000000000000005021408", "hex");
  // The type and rate of the specific configuration: AAC-LC at 16 kHz.
  config.set([0x05, 0x02, 0x14, 0x08], config.length - 4);
  const count = Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]);
  return Buffer.concat([count, box("mp4a", Buffer.concat([entry, box("esds", config)]))]);
}

export function box(name: string, body: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(8 + body.length);
  return Buffer.concat([size, Buffer.from(name), body]);
}

/** An ID3 tag with a body. */
export function id3Tag(body: Buffer): Buffer {
  const head = Buffer.from("ID3\x04\0\0\0\0\0\0", "latin1");
  for (let index = 0; index < 4; index += 1) head[9 - index] = (body.length >> (7 * index)) & 127;
  return Buffer.concat([head, body]);
}

export function repeated(bytes: Buffer, times: number): Buffer {
  return Buffer.alloc(bytes.length * times, bytes);
}
