import type { ChatRequest, DocumentPart, ImagePart, Part, Turn } from "../../../domain/chat-request.ts";

const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const DOCUMENT_TYPES = ["application/pdf"];

/** The first place of a request that Anthropic cannot be told: media of other kinds, or where it takes none. */
export function findUntranslatable({ turns }: ChatRequest): string | undefined {
  for (const { role, parts } of turns) {
    const part = parts.flatMap(mediaIn).find((media) => !isSayable(media, role));
    if (part) return part.path;
  }
  return undefined;
}

type Media = ImagePart | DocumentPart;

function mediaIn(part: Part): readonly Media[] {
  if (part.kind === "tool_result") return part.parts.filter(isMedia);
  return isMedia(part) ? [part] : [];
}

function isMedia(part: Part): part is Media {
  return part.kind === "image" || part.kind === "document";
}

function isSayable({ kind, source }: Media, role: Turn["role"]): boolean {
  if (role !== "user") return false;
  if (source.kind !== "inline") return true;
  return (kind === "image" ? IMAGE_TYPES : DOCUMENT_TYPES).includes(source.mediaType);
}
