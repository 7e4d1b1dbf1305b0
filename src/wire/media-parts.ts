import type { ChatRequest, DocumentPart, ImagePart, Part, Turn } from "../domain/chat-request.ts";

/** A part of a message or of a tool result that holds a file. */
export type Media = ImagePart | DocumentPart;

/**
 * Returns the path of the first image or document that `isAccepted` rejects, in messages and tool results;
 * `undefined` if all are accepted.
 */
export function findRejectedMedia(
  { turns }: ChatRequest,
  isAccepted: (media: Media, role: Turn["role"]) => boolean,
): string | undefined {
  for (const { role, parts } of turns) {
    const rejected = parts.flatMap(mediaIn).find((media) => !isAccepted(media, role));
    if (rejected) return rejected.path;
  }
  return undefined;
}

function mediaIn(part: Part): readonly Media[] {
  if (part.kind === "tool_result") return part.parts.filter(isMedia);
  return isMedia(part) ? [part] : [];
}

function isMedia(part: Part): part is Media {
  return part.kind === "image" || part.kind === "document";
}
