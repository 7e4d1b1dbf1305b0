import type { DocumentPart, ImagePart } from "../../../domain/chat-request.ts";
import { readCacheMark } from "../../cache-mark.ts";
import { isJsonObject, isSet, type JsonObject } from "../../json/read.ts";
import { decodeTextSource, readFileData, readMediaUrl } from "../../media-data.ts";
import { refuseUntranslatable } from "../../request-body.ts";
import { readOptionalText, requireObject, requireText } from "./read-member.ts";

/** An `image_url` part; some clients give the address without an object around it. */
export function readImage(part: JsonObject, path: string): ImagePart {
  const image = typeof part.image_url === "string" ? { url: part.image_url } : part.image_url;
  const at = `${path}.image_url`;
  const { url, detail } = isJsonObject(image) ? image : requireObject(part, "image_url", path);
  return {
    kind: "image",
    source: readMediaUrl(requireText({ url }, "url", at)) ?? refuseUntranslatable(`${at}.url`),
    detail: readOptionalText({ detail }, "detail", at),
    cache: readCacheMark(part),
    path,
  };
}

/** A `file` part: a data: URL, an address, or bare base64 of a kind that can be told. */
export function readFile(part: JsonObject, path: string): DocumentPart | ImagePart {
  const at = `${path}.file`;
  const file = requireObject(part, "file", path);
  if (!isSet(file.file_data) && isSet(file.file_id)) refuseUntranslatable(`${at}.file_id`);
  const name = readOptionalText(file, "filename", at) || undefined;
  const data = requireText(file, "file_data", at);
  const source = readFileData(data, name) ?? refuseUntranslatable(`${at}.file_data`);
  const cache = readCacheMark(part);
  if (source.kind === "inline" && source.mediaType.startsWith("image/")) {
    return { kind: "image", source, detail: undefined, cache, path };
  }
  return { kind: "document", source: decodeTextSource(source), name, cache, path };
}
