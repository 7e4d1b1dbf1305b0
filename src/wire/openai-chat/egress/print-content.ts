import type { DocumentPart, ImagePart, InlineSource, Part, TextPart } from "../../../domain/chat-request.ts";
import { printCacheMark } from "../../cache-mark.ts";

/** Between texts that a client kept apart and a message holds in one. */
export const PARAGRAPH = "\n\n";

/** How contents are printed for a host. */
export interface ContentOptions {
  /** Whether it takes Anthropic's cache marks, as hosts of its models do. */
  readonly keepsCacheMarks: boolean;
}

/**
 * A text, or parts where there is more than text or a mark is to be kept: not every host takes a list for a
 * text. Texts that become one are joined by the joint.
 */
export function printContent(
  parts: readonly Part[],
  { keepsCacheMarks }: ContentOptions,
  joint = PARAGRAPH,
): string | readonly object[] {
  const printed = parts.flatMap((part) => (keepsCacheMarks ? printMarked(part) : printPart(part)));
  const texts = printed.flatMap((part) => (isPlainText(part) ? [part.text] : []));
  return texts.length === printed.length ? texts.join(joint) : printed;
}

type Printed =
  | PrintedText
  | { readonly type: "image_url"; readonly image_url: object }
  | { readonly type: "file"; readonly file: object };

interface PrintedText {
  readonly type: "text";
  readonly text: string;
  readonly cache_control?: object;
}

function isPlainText(part: Printed): part is PrintedText {
  return part.type === "text" && !("cache_control" in part);
}

/** Hosts know marks on texts only, and refuse one on an empty text. */
function printMarked(part: Part): readonly Printed[] {
  return part.kind === "text" && part.text !== "" ? [printText(part)] : printPart(part);
}

function printText({ text, cache }: TextPart): PrintedText {
  return { type: "text", text, ...printCacheMark(cache) };
}

function printPart(part: Part): readonly Printed[] {
  if (part.kind === "text") return [{ type: "text", text: part.text }];
  if (part.kind === "image") return [printImage(part)];
  return part.kind === "document" ? printDocument(part) : [];
}

function printImage({ source, detail }: ImagePart): Printed {
  const url = source.kind === "url" ? source.url : printDataUrl(source);
  return { type: "image_url", image_url: { url, detail } };
}

/** Hosts take files of PDF only; a text is read as well outside of one. */
function printDocument({ source, name }: DocumentPart): readonly Printed[] {
  if (source.kind === "url") return [];
  const title = name === undefined ? "" : `${name}:\n`;
  if (source.kind === "text") return [{ type: "text", text: title + source.text }];
  return [{ type: "file", file: { filename: fileNameOf(name), file_data: printDataUrl(source) } }];
}

/** Hosts tell a file's kind by its name, and a document's title has no ending. */
function fileNameOf(name = "document"): string {
  return /\.\w{1,5}$/.test(name) ? name : `${name}.pdf`;
}

function printDataUrl({ mediaType, data }: InlineSource): string {
  return `data:${mediaType};base64,${data}`;
}
