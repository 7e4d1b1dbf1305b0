import type { DocumentPart, ImagePart } from "../../../domain/chat-request.ts";
import { isJsonObject, isSet, type JsonObject } from "../../json/read.ts";
import { rejectUntranslatable } from "../../request-body.ts";
import { decodeTextSource, readCacheMark, readFileData, readMediaUrl } from "../../request-fields.ts";
import { readOptionalText, requireObject, requireText } from "./read-member.ts";

/** Reads an `image_url` part; some clients send the URL without an object around it. */
export function readImage(part: JsonObject, path: string): ImagePart {
  const image = typeof part.image_url === "string" ? { url: part.image_url } : part.image_url;
  const imagePath = `${path}.image_url`;
  const { url, detail } = isJsonObject(image) ? image : requireObject(part, "image_url", path);
  return {
    kind: "image",
    source: readMediaUrl(requireText({ url }, "url", imagePath)) ?? rejectUntranslatable(`${imagePath}.url`),
    detail: readOptionalText({ detail }, "detail", imagePath),
    cache: readCacheMark(part),
    path,
  };
}

/** Reads a `file` part: a data: URL, a web URL, or bare base64 of a PDF or a named text file. */
export function readFile(part: JsonObject, path: string): DocumentPart | ImagePart {
  const filePath = `${path}.file`;
  const file = requireObject(part, "file", path);
  if (!isSet(file.file_data) && isSet(file.file_id)) rejectUntranslatable(`${filePath}.file_id`);
  const name = readOptionalText(file, "filename", filePath) || undefined;
  const data = requireText(file, "file_data", filePath);
  const source = readFileData(data, name) ?? rejectUntranslatable(`${filePath}.file_data`);
  const cache = readCacheMark(part);
  if (source.kind === "inline" && source.mediaType.startsWith("image/")) {
    return { kind: "image", source, detail: undefined, cache, path };
  }
  return { kind: "document", source: decodeTextSource(source), name, cache, path };
}
