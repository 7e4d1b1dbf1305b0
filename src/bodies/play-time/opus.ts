/** No packet plays longer. */
export const OPUS_PACKET_SECONDS_MAX = 0.12;

const SILK_MS = [10, 20, 40, 60];
const HYBRID_MS = [10, 20];
const CELT_MS = [2.5, 5, 10, 20];

/**
 * Returns the play time of an Opus packet by its first two bytes.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6716#section-3.1
 */
export function opusSecondsAt(view: DataView, at: number, bytes: number): number {
  if (bytes === 0) return 0;
  const head = view.getUint8(at);
  const config = head >> 3;
  const ms = config < 12 ? SILK_MS[config & 3] : config < 16 ? HYBRID_MS[config & 1] : CELT_MS[config & 3];
  const code = head & 3;
  const frames = code === 0 ? 1 : code < 3 ? 2 : bytes > 1 ? view.getUint8(at + 1) & 63 : 0;
  return Math.min(((ms ?? 0) * frames) / 1_000, OPUS_PACKET_SECONDS_MAX);
}
