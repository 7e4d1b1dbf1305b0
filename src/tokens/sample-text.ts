/** A slice holds some five hundred words, so that the words cut at its ends do not count. */
const SLICE_CHARS = 2_048;
/** Of UTF-8, for one UTF-16 unit. */
const BYTES_PER_CHAR_MAX = 3;

/**
 * Takes slices from all over a text, at most `bytesMax` bytes together. Each lies at a random place of its own share
 * of the text: a sender who knew the places could write cheap words there and dear ones elsewhere.
 */
export function sampleText(text: string, bytesMax: number, random: () => number = Math.random): string {
  const slices = Math.max(1, Math.floor(bytesMax / (SLICE_CHARS * BYTES_PER_CHAR_MAX)));
  const share = text.length / slices;
  const freedom = Math.max(0, share - SLICE_CHARS);
  let sample = "";
  for (let index = 0; index < slices; index++) {
    const start = Math.floor(index * share + random() * freedom);
    sample += text.slice(start, start + SLICE_CHARS);
  }
  return sample;
}
