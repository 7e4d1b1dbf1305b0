import type { InputSize } from "./protocol.ts";

/** What one part of a prompt is beside the text of the body. */
export interface PartSize {
  readonly images: number;
  /** Characters of inline image data, all of them ASCII. */
  readonly inlineChars: number;
  /** Whether it can become any number of tokens: a file, a sound, what we do not know. */
  readonly isUnbounded: boolean;
  /** Whether it is a tool that runs at the upstream, and finds there what nobody can foresee. */
  readonly isServerTool: boolean;
}

export const TEXT_SIZE: PartSize = { images: 0, inlineChars: 0, isUnbounded: false, isServerTool: false };
export const UNBOUNDED_SIZE: PartSize = { ...TEXT_SIZE, isUnbounded: true };
export const SERVER_TOOL_SIZE: PartSize = { ...TEXT_SIZE, isServerTool: true };
/** Both: what a server tool brings in can be any number of tokens, and is read several times. */
export const REMOTE_TOOL_SIZE: PartSize = { ...UNBOUNDED_SIZE, isServerTool: true };

const IMAGE_URL = /^data:image\/(?:png|jpe?g|gif|webp|avif|heic|heif|bmp|tiff);base64,/i;
const IMAGE_URL_HEAD_CHARS = 40;

/** An image; one that is not inline has no characters of its own. */
export function imageSize(inlineChars: number): PartSize {
  return { ...TEXT_SIZE, images: 1, inlineChars };
}

/** How long the data of an inline image is; 0 when the address is anything else than one. */
export function imageCharsOf(url: string): number {
  const head = IMAGE_URL.exec(url.slice(0, IMAGE_URL_HEAD_CHARS));
  return head ? url.length - head[0].length : 0;
}

export function sumOfSizes(sizes: readonly PartSize[]): PartSize {
  let images = 0;
  let inlineChars = 0;
  let isUnbounded = false;
  let isServerTool = false;
  for (const size of sizes) {
    images += size.images;
    inlineChars += size.inlineChars;
    isUnbounded ||= size.isUnbounded;
    isServerTool ||= size.isServerTool;
  }
  return { images, inlineChars, isUnbounded, isServerTool };
}

/** The input of a body: its bytes in UTF-8 without inline images. `repeatsKeys` makes it unbounded. */
export function inputSizeOf(text: string, media: PartSize, repeatsKeys: boolean): InputSize {
  return {
    // Image data takes at least one byte a character, more when escaped, so what is left is never too little.
    textBytes: Buffer.byteLength(text) - media.inlineChars,
    mediaBytes: media.inlineChars,
    images: media.images,
    unbounded: media.isUnbounded || repeatsKeys,
    serverTools: media.isServerTool,
  };
}
