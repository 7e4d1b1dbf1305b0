const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const DOCUMENT_TYPES = ["application/pdf", "text/plain"];

/** The name that Anthropic knows this type of inline image by; `undefined` for a type that it does not take. */
export function imageTypeOf(mediaType: string): string | undefined {
  const type = bareTypeOf(mediaType);
  return IMAGE_TYPES.find((known) => known === (type === "image/jpg" ? "image/jpeg" : type));
}

/** The same of an inline document. */
export function documentTypeOf(mediaType: string): string | undefined {
  const type = bareTypeOf(mediaType);
  return DOCUMENT_TYPES.find((known) => known === type);
}

/** Without parameters, in lower case. */
function bareTypeOf(mediaType: string): string {
  const [type = ""] = mediaType.slice(0, 100).split(";");
  return type.trim().toLowerCase();
}
