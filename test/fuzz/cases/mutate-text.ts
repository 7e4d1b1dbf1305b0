import { drawInteger, drawOne, drawWeighted, type RandomSource } from "../../support/seeded-random.ts";
import { drawHostile } from "./hostile-values.ts";

/**
 * Changes a JSON text that most parsers still accept: a duplicate key, unusual spaces, other number forms.
 */
export function mutateJsonText(draw: RandomSource, text: string): string {
  return drawWeighted(draw, JSON_MUTATIONS).mutate(draw, text);
}

/** Changes bytes without regard to their meaning. */
export function mutateBytes(draw: RandomSource, bytes: Buffer): Buffer {
  return bytes.length === 0 ? bytes : drawWeighted(draw, BYTE_MUTATIONS).mutate(draw, bytes);
}

const JSON_MUTATIONS: readonly {
  readonly weight: number;
  mutate(draw: RandomSource, text: string): string;
}[] = [
  { weight: 4, mutate: repeatKey },
  { weight: 1, mutate: (_draw, text) => text.replaceAll(",", " ,\n\t") },
  { weight: 1, mutate: (_draw, text) => text.replaceAll(/"([a-z_]{2,12})":/g, escapeKey) },
  { weight: 1, mutate: (_draw, text) => ` ${text}\r\n` },
  { weight: 1, mutate: (_draw, text) => text.replaceAll(/:(\d{1,6})([,}])/g, ":$1.0e0$2") },
];

const BYTE_MUTATIONS: readonly {
  readonly weight: number;
  mutate(draw: RandomSource, bytes: Buffer): Buffer;
}[] = [
  { weight: 4, mutate: flip },
  { weight: 3, mutate: (draw, bytes) => bytes.subarray(0, drawInteger(draw, 0, bytes.length)) },
  { weight: 2, mutate: (draw, bytes) => cutOut(draw, bytes) },
  {
    weight: 1,
    mutate: (draw, bytes) => Buffer.concat([bytes, bytes.subarray(drawInteger(draw, 0, bytes.length))]),
  },
  { weight: 1, mutate: (draw, bytes) => insert(draw, bytes, Buffer.from([0xc3, 0x28, 0xff, 0x00])) },
];

function repeatKey(draw: RandomSource, text: string): string {
  const keys = [...text.matchAll(/[{,]"(\w{1,30})":/g)];
  if (keys.length === 0) return text;
  const key = drawOne(draw, keys);
  const at = key.index + 1;
  return `${text.slice(0, at)}"${key[1]}":${JSON.stringify(drawHostile(draw))},${text.slice(at)}`;
}

function escapeKey(_match: string, name: string): string {
  return `"\\u${name.charCodeAt(0).toString(16).padStart(4, "0")}${name.slice(1)}":`;
}

function flip(draw: RandomSource, bytes: Buffer): Buffer {
  const flipped = Buffer.from(bytes);
  for (let left = drawInteger(draw, 1, 3); left > 0; left -= 1) {
    flipped[drawInteger(draw, 0, flipped.length - 1)] = drawInteger(draw, 0, 255);
  }
  return flipped;
}

function cutOut(draw: RandomSource, bytes: Buffer): Buffer {
  const from = drawInteger(draw, 0, bytes.length);
  return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + drawInteger(draw, 1, 60))]);
}

function insert(draw: RandomSource, bytes: Buffer, more: Buffer): Buffer {
  const at = drawInteger(draw, 0, bytes.length);
  return Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)]);
}
