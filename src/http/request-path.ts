/**
 * Path and query of a request as they stood in its first line. Never throws: a Host header can hold
 * anything, so the address as a whole may be no URL, or be nothing but a path.
 */
export function targetOf({ url }: Request): string {
  if (url.startsWith("/")) return url;
  const pathAt = url.indexOf("/", url.indexOf("//") + 2);
  return pathAt < 0 ? "/" : url.slice(pathAt);
}

/** The path alone, undecoded. */
export function pathOf(request: Request): string {
  const [path = "/"] = targetOf(request).split("?", 1);
  return path;
}
