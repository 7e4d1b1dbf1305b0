import type { DocumentPart, ImagePart, InlineSource, Part } from "../../domain/chat-request.ts";

/** Between texts that a client kept apart and a message holds in one. */
export const PARAGRAPH = "\n\n";

/** A user's text, or parts where there is more than text: not every host takes a list for a text. */
export function printContent(parts: readonly Part[]): string | readonly object[] {
  const printed = parts.flatMap(printPart);
  const texts = printed.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === printed.length ? texts.join(PARAGRAPH) : printed;
}

type Printed =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: object }
  | { readonly type: "file"; readonly file: object };

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
  if (source.mediaType.startsWith("text/")) {
    return [{ type: "text", text: title + Buffer.from(source.data, "base64").toString("utf8") }];
  }
  return [{ type: "file", file: { filename: fileNameOf(name), file_data: printDataUrl(source) } }];
}

/** Hosts tell a file's kind by its name, and a document's title has no ending. */
function fileNameOf(name = "document"): string {
  return /\.\w{1,5}$/.test(name) ? name : `${name}.pdf`;
}

function printDataUrl({ mediaType, data }: InlineSource): string {
  return `data:${mediaType};base64,${data}`;
}
