import { flac } from "./flac.ts";
import { matroska } from "./matroska.ts";
import { mp4 } from "./mp4.ts";
import { mpeg } from "./mpeg.ts";
import { ogg } from "./ogg.ts";
import { aiff, wave } from "./pcm.ts";
import { hasText, type Sound, type SoundReader } from "./sound.ts";

/** 6 kbit/s, the lowest bitrate of usual speech codecs. */
const BYTES_PER_SECOND_MIN = 750;

const FRAME_SECONDS = 0.02;
const NARROW = { magic: "#!AMR\n", frameBytes: [13, 14, 16, 18, 20, 21, 27, 32, 6] };
const WIDE = { magic: "#!AMR-WB\n", frameBytes: [18, 24, 33, 37, 41, 47, 51, 59, 61, 6] };

/**
 * Adaptive multi-rate speech: frames of 20 ms, down to one byte each in silence.
 *
 * @see https://www.rfc-editor.org/rfc/rfc4867#section-5
 */
const amr: SoundReader = {
  matches: (view, start) => [NARROW, WIDE].some(({ magic }) => hasText(view, start, magic)),
  count(view, start): Sound {
    const { magic, frameBytes } = hasText(view, start, WIDE.magic) ? WIDE : NARROW;
    let frames = 0;
    for (let at = start + magic.length; at < view.byteLength; frames += 1)
      at += frameBytes[(view.getUint8(at) >> 3) & 15] ?? 1;
    return { seconds: frames * FRAME_SECONDS, unreadBytes: 0 };
  },
};

/** The order matters only for the last one, which has no magic bytes but the sync of its frames. */
const READERS: readonly SoundReader[] = [wave, aiff, flac, ogg, matroska, mp4, amr, mpeg];

const ID3_HEAD_BYTES = 10;
/** More tags than this in a row are no music. */
const ID3_TAGS_MAX = 16;

/**
 * Returns the most seconds that the bytes of an audio file can play. Frames and packets are counted; bytes that
 * cannot be read so count at 6 kbit/s. Takes one pass, and never throws.
 */
export function readPlayTime(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { seconds, unreadBytes } = countSound(view);
  return seconds + unreadBytes / BYTES_PER_SECOND_MIN;
}

function countSound(view: DataView): Sound {
  const unread = { seconds: 0, unreadBytes: view.byteLength };
  try {
    const start = skipId3(view);
    const sound = READERS.find((reader) => reader.matches(view, start))?.count(view, start);
    return sound && (sound.seconds > 0 || sound.unreadBytes > 0) ? sound : unread;
  } catch {
    // The file ends in the middle of a header.
    return unread;
  }
}

/**
 * Returns the offset after the ID3 tags that lie within the file; every decoder skips them by their size. Bytes
 * that break the form of a tag are not skipped, because decoders search them for sound.
 */
function skipId3(view: DataView): number {
  let at = 0;
  for (let tags = 0; tags < ID3_TAGS_MAX && hasText(view, at, "ID3"); tags += 1) {
    if (at + ID3_HEAD_BYTES > view.byteLength) return at;
    if (view.getUint8(at + 3) === 0xff || view.getUint8(at + 4) === 0xff) return at;
    const stated = view.getUint32(at + 6);
    if ((stated & 0x80808080) !== 0) return at;
    let size = 0;
    for (let shift = 24; shift >= 0; shift -= 8) size = size * 128 + ((stated >>> shift) & 127);
    const end = at + ID3_HEAD_BYTES + size;
    if (end >= view.byteLength) return at;
    at = end;
  }
  return at;
}
