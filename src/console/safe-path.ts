/** Printable ASCII without a backslash; what else a path may have is percent-encoded. */
const OWN_PATH = /^\/(?!\/)[!-[\]-~]*$/;

/** Returns a path of this console to go on to, and "/" for anything that could lead elsewhere. */
export function safePath(text: string | undefined): string {
  return text !== undefined && OWN_PATH.test(text) ? text : "/";
}
