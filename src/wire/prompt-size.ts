import { isJsonObject, type JsonObject } from "./json/read.ts";
import type { InputSize } from "./model-request.ts";

/** The size of one part of a prompt beside the text of the body. */
export interface PartSize {
  readonly images: number;
  /** Characters of inline image data, all of them ASCII. */
  readonly inlineChars: number;
  /** Whether the part can become any number of tokens: a file, audio or an unknown type. */
  readonly isUnbounded: boolean;
  /** Whether the part is a tool that runs at the upstream, whose results can be of any size. */
  readonly isServerTool: boolean;
  /** Whether the part is a document or a recording; false when omitted. */
  readonly isDocument?: boolean | undefined;
  readonly isAudio?: boolean | undefined;
  /** Estimates by the bytes, for answers that report no usage; 0 when omitted. */
  readonly fileTokens?: number | undefined;
  readonly audioTokens?: number | undefined;
}

/** Characters of base64 for one token of a document: a page of 100 KB has 1,600 tokens. */
const DOCUMENT_CHARS = 80;
/** Tokens of a document that the upstream fetches, whose size is unknown here. */
const FETCHED_TOKENS = 5_000;
/** Characters of base64 for a tenth of a second, one token: speech of 64 kbit/s, and samples of 24 kHz. */
const AUDIO_CHARS = 1_000;
const SAMPLES_CHARS = 6_400;

export const TEXT_SIZE: PartSize = { images: 0, inlineChars: 0, isUnbounded: false, isServerTool: false };
export const UNBOUNDED_SIZE: PartSize = { ...TEXT_SIZE, isUnbounded: true };
/** Speech of an earlier answer, which the upstream has. */
export const AUDIO_SIZE: PartSize = { ...UNBOUNDED_SIZE, isAudio: true };
export const SERVER_TOOL_SIZE: PartSize = { ...TEXT_SIZE, isServerTool: true };
/** Size of a tool that runs at the provider: its results are unbounded, and each result rereads the prompt. */
export const REMOTE_TOOL_SIZE: PartSize = { ...UNBOUNDED_SIZE, isServerTool: true };

const IMAGE_URL = /^data:image\/(?:png|jpe?g|gif|webp|avif|heic|heif|bmp|tiff);base64,/i;
const IMAGE_URL_HEAD_CHARS = 40;

/** Returns the size of a document by its base64 data; by an estimate where the upstream fetches it. */
export function documentSize(data: unknown): PartSize {
  const fileTokens = typeof data === "string" ? Math.ceil(data.length / DOCUMENT_CHARS) : FETCHED_TOKENS;
  return { ...UNBOUNDED_SIZE, isDocument: true, fileTokens };
}

/** Returns the size of a recording by its base64 data and its format or MIME type. */
export function audioSize(data: unknown, format: unknown): PartSize {
  const chars = typeof format === "string" && /wav|pcm|l16/i.test(format) ? SAMPLES_CHARS : AUDIO_CHARS;
  const audioTokens = typeof data === "string" ? Math.ceil(data.length / chars) : FETCHED_TOKENS;
  return { ...AUDIO_SIZE, audioTokens };
}

/** Returns the size of one image; `inlineChars` is 0 for an image that the upstream fetches. */
export function imageSize(inlineChars: number): PartSize {
  return { ...TEXT_SIZE, images: 1, inlineChars };
}

/** Returns the characters of base64 data in a data: URL of an image; 0 for any other URL. */
export function imageCharsOf(url: string): number {
  const head = IMAGE_URL.exec(url.slice(0, IMAGE_URL_HEAD_CHARS));
  return head ? url.length - head[0].length : 0;
}

/** Returns the size of an image by its URL; unbounded for data that is no image. */
export function sizeOfImageUrl(url: unknown): PartSize {
  if (typeof url !== "string") return UNBOUNDED_SIZE;
  const inlineChars = imageCharsOf(url);
  return inlineChars === 0 && /^\s*data:/i.test(url) ? UNBOUNDED_SIZE : imageSize(inlineChars);
}

export function sumOfSizes(sizes: readonly PartSize[]): PartSize {
  let images = 0;
  let inlineChars = 0;
  let isUnbounded = false;
  let isServerTool = false;
  let isDocument = false;
  let isAudio = false;
  let fileTokens = 0;
  let audioTokens = 0;
  for (const size of sizes) {
    images += size.images;
    inlineChars += size.inlineChars;
    isUnbounded ||= size.isUnbounded;
    isServerTool ||= size.isServerTool;
    isDocument ||= size.isDocument === true;
    isAudio ||= size.isAudio === true;
    fileTokens += size.fileTokens ?? 0;
    audioTokens += size.audioTokens ?? 0;
  }
  return { images, inlineChars, isUnbounded, isServerTool, isDocument, isAudio, fileTokens, audioTokens };
}

/**
 * Returns the input size of a body: UTF-8 bytes without inline images. Repeated keys make the size unbounded.
 */
export function inputSizeOf(text: string, media: PartSize, repeatsKeys: boolean): InputSize {
  const { fileTokens, audioTokens } = media;
  return {
    // Image data takes at least one byte a character, more if escaped, so the difference is never too small.
    textBytes: Buffer.byteLength(text) - media.inlineChars,
    mediaBytes: media.inlineChars,
    images: media.images,
    unbounded: media.isUnbounded || repeatsKeys,
    serverTools: media.isServerTool,
    ...(fileTokens ? { fileTokens } : {}),
    ...(audioTokens ? { audioTokens } : {}),
  };
}

/** Members whose values a model does not read as words. */
const UNREAD = new Set([
  "cache_control",
  "data",
  "encrypted_content",
  "file_data",
  "image_url",
  "role",
  "signature",
  "thought_signature",
  "thoughtSignature",
  "type",
]);
/** Member names that belong to the wire format; other names come from the client and are read as words. */
const FRAMING = new Set(["content", "text", "id", "tool_call_id", "tool_use_id", "function"]);

/** Returns the text of a prompt for a local token count: what a model reads of some fields of a body. */
export function promptTextOf(body: JsonObject, fields: readonly string[]): string {
  return joinPromptText(fields.map((name) => body[name]));
}

/**
 * Joins everything that a model reads as text with line feeds, media excluded. That is all strings and
 * numbers, and the member names of tool schemas and tool inputs. Takes values of any depth without recursion.
 */
export function joinPromptText(values: readonly unknown[]): string {
  const words: string[] = [];
  const waiting: unknown[] = values.toReversed();
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === "string") words.push(value);
    else if (typeof value === "number") words.push(String(value));
    else if (Array.isArray(value)) for (const element of value.toReversed()) waiting.push(element);
    else if (isJsonObject(value)) {
      for (const [key, member] of Object.entries(value).toReversed()) {
        if (UNREAD.has(key)) continue;
        waiting.push(member);
        if (!FRAMING.has(key)) waiting.push(key);
      }
    }
  }
  return words.join("\n");
}
