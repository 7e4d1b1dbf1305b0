import type { DocumentPart, ImagePart, ResultPart } from "../../../domain/chat-request.ts";
import { isJsonObject, type JsonObject, readText } from "../../json/read.ts";
import { reject, rejectUntranslatable, requireText } from "../../request-body.ts";
import { decodeTextSource, inlineSource, readCacheMark, readMediaUrl } from "../../request-fields.ts";

/**
 * Reads an image block. Throws `untranslatable` for a file in the provider's store, `wrong_shape` for a bad
 * source.
 */
export function readImage(block: JsonObject, path: string): readonly [ImagePart] {
  const source = requireSource(block, path);
  if (source.type !== "base64" && source.type !== "url") rejectSource(source, path);
  return [
    { kind: "image", source: readSource(source, path), detail: undefined, cache: readCacheMark(block), path },
  ];
}

/**
 * Reads a document block. Its `context` becomes a text part before it. A document made of blocks becomes the
 * parts of those blocks. Throws like {@link readImage}.
 */
export function readDocument(block: JsonObject, path: string): readonly ResultPart[] {
  const source = requireSource(block, path);
  const context = textParts(block.context);
  if (source.type === "content") return [...textParts(block.title), ...context, ...readPieces(source, path)];
  const document = { kind: "document", name: readText(block.title) || undefined, path } as const;
  return [...context, { ...document, source: readDocumentSource(source, path), cache: readCacheMark(block) }];
}

function readDocumentSource(source: JsonObject, path: string): DocumentPart["source"] {
  if (source.type === "text") return { kind: "text", text: requireText(source.data, `${path}.source.data`) };
  if (source.type !== "base64" && source.type !== "url") rejectSource(source, path);
  return decodeTextSource(readSource(source, path));
}

function readSource(source: JsonObject, path: string): ImagePart["source"] {
  if (source.type === "url") {
    const place = `${path}.source.url`;
    return readMediaUrl(requireText(source.url, place)) ?? rejectUntranslatable(place);
  }
  const mediaType = requireText(source.media_type, `${path}.source.media_type`);
  return inlineSource(mediaType, requireText(source.data, `${path}.source.data`));
}

function readPieces({ content }: JsonObject, path: string): readonly ResultPart[] {
  if (typeof content === "string") return textParts(content);
  if (!Array.isArray(content)) reject(`${path}.source.content`);
  return content.flatMap((piece: unknown, position): readonly ResultPart[] => {
    const place = `${path}.source.content[${position}]`;
    if (!isJsonObject(piece)) reject(place);
    if (piece.type === "image") return readImage(piece, place);
    if (piece.type !== "text") rejectUntranslatable(place);
    return textParts(requireText(piece.text, `${place}.text`));
  });
}

function textParts(text: unknown): readonly ResultPart[] {
  return typeof text === "string" && text !== "" ? [{ kind: "text", text, cache: undefined }] : [];
}

function requireSource(block: JsonObject, path: string): JsonObject {
  return isJsonObject(block.source) ? block.source : reject(`${path}.source`);
}

function rejectSource({ type }: JsonObject, path: string): never {
  return typeof type === "string" ? rejectUntranslatable(`${path}.source`) : reject(`${path}.source.type`);
}
