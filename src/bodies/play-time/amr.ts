import { hasText, type Sound, type SoundReader } from "./sound.ts";

const FRAME_SECONDS = 0.02;
const NARROW = { magic: "#!AMR\n", frameBytes: [13, 14, 16, 18, 20, 21, 27, 32, 6] };
const WIDE = { magic: "#!AMR-WB\n", frameBytes: [18, 24, 33, 37, 41, 47, 51, 59, 61, 6] };

/**
 * Adaptive multi-rate speech: frames of 20 ms, down to one byte each in silence.
 *
 * @see https://www.rfc-editor.org/rfc/rfc4867#section-5
 */
export const amr: SoundReader = {
  matches: (view, start) => [NARROW, WIDE].some(({ magic }) => hasText(view, start, magic)),
  count(view, start): Sound {
    const { magic, frameBytes } = hasText(view, start, WIDE.magic) ? WIDE : NARROW;
    let frames = 0;
    for (let at = start + magic.length; at < view.byteLength; frames += 1)
      at += frameBytes[(view.getUint8(at) >> 3) & 15] ?? 1;
    return { seconds: frames * FRAME_SECONDS, unreadBytes: 0 };
  },
};
