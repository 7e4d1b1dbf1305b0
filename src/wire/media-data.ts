import type { InlineSource, TextSource, UrlSource } from "../domain/chat-request.ts";

const DATA_URL_HEAD = /^\s*data:([^;,\s]+)(?:;[^;,]*)*;base64$/i;
const DATA_URL_HEAD_CHARS = 256;
const MEDIA_TYPE_CHARS_MAX = 100;
const WEB_URL = /^\s*https?:\/\//i;
const WEB_URL_HEAD_CHARS = 16;
/** How "%PDF-" begins in base64. */
const PDF_HEAD = "JVBER";
const TEXT_FILE = /\.(?:txt|md|csv|json|xml|html?|ya?ml)$/i;

/** What an address holds or leads to; `undefined` for any that only its own machine could follow. */
export function readMediaUrl(url: string): InlineSource | UrlSource | undefined {
  if (WEB_URL.test(url.slice(0, WEB_URL_HEAD_CHARS))) return { kind: "url", url };
  const comma = url.slice(0, DATA_URL_HEAD_CHARS).indexOf(",");
  const [, mediaType] = (comma >= 0 && DATA_URL_HEAD.exec(url.slice(0, comma))) || [];
  return mediaType === undefined ? undefined : inlineSource(mediaType, url.slice(comma + 1));
}

/** A file of an OpenAI format: a data: URL, an address, or bare base64 of a kind that can be told. */
export function readFileData(data: string, name = ""): InlineSource | UrlSource | undefined {
  return readMediaUrl(data) ?? readBare(data, name);
}

/** The same file as a model reads it: what is text is its text. */
export function decodeTextSource(source: InlineSource | UrlSource): InlineSource | UrlSource | TextSource {
  if (source.kind !== "inline" || !source.mediaType.startsWith("text/")) return source;
  return { kind: "text", text: Buffer.from(source.data, "base64").toString("utf8") };
}

/** Media that lie in the body, their type without parameters, in lower case and as providers spell it. */
export function inlineSource(mediaType: string, data: string): InlineSource {
  const [bare = ""] = mediaType.slice(0, MEDIA_TYPE_CHARS_MAX).split(";");
  const type = bare.trim().toLowerCase();
  return { kind: "inline", mediaType: type === "image/jpg" ? "image/jpeg" : type, data };
}

function readBare(data: string, name: string): InlineSource | undefined {
  if (data.startsWith(PDF_HEAD)) return inlineSource("application/pdf", data);
  return TEXT_FILE.test(name) ? inlineSource("text/plain", data) : undefined;
}
