import type { DocumentPart, ImagePart, InlineSource, UrlSource } from "../../../domain/chat-request.ts";
import { isSet, type JsonObject, readText } from "../../json/read.ts";
import { reject, rejectUntranslatable } from "../../request-body.ts";
import { decodeTextSource, readFileData, readMediaUrl } from "../../request-fields.ts";

/**
 * Reads an `input_image` part. Throws `untranslatable` for a file in the provider's store, and `wrong_shape`.
 */
export function readImage({ image_url: url, detail, file_id: id }: JsonObject, path: string): ImagePart {
  if (!isSet(url) && isSet(id)) rejectUntranslatable(`${path}.file_id`);
  if (typeof url !== "string" || url === "") reject(`${path}.image_url`);
  const source = readMediaUrl(url) ?? rejectUntranslatable(`${path}.image_url`);
  return { kind: "image", source, detail: readText(detail) || undefined, cache: undefined, path };
}

/**
 * Reads an `input_file` part: a data: URL, bare base64 of a recognised type, or a web address. An image file
 * becomes an image. Throws `untranslatable` for any other file, and `wrong_shape`.
 */
export function readFile(file: JsonObject, path: string): DocumentPart | ImagePart {
  const name = readText(file.filename) || undefined;
  const source = readFileSource(file, name, path);
  if (source.kind === "inline" && source.mediaType.startsWith("image/")) {
    return { kind: "image", source, detail: undefined, cache: undefined, path };
  }
  return { kind: "document", source: decodeTextSource(source), name, cache: undefined, path };
}

function readFileSource(file: JsonObject, name: string | undefined, path: string): InlineSource | UrlSource {
  const { file_data: data, file_url: url, file_id: id } = file;
  if (isSet(data)) {
    if (typeof data !== "string") reject(`${path}.file_data`);
    return readFileData(data, name) ?? rejectUntranslatable(`${path}.file_data`);
  }
  if (isSet(url)) {
    if (typeof url !== "string") reject(`${path}.file_url`);
    return readMediaUrl(url) ?? rejectUntranslatable(`${path}.file_url`);
  }
  return isSet(id) ? rejectUntranslatable(`${path}.file_id`) : reject(`${path}.file_data`);
}
