/** Printable ASCII without a backslash; what else a path may have is percent-encoded. */
const OWN_PATH = /^\/(?!\/)[!-[\]-~]*$/;

const ROOT = "/console";

/** Returns a path of the console to go on to, and "/" for anything that could lead elsewhere. */
export function safePath(text: string | undefined): string {
  return text !== undefined && OWN_PATH.test(text) && staysBelow(text) ? text : "/";
}

/** Browsers resolve "..", also percent-encoded, before they show an address. */
function staysBelow(text: string): boolean {
  const { pathname } = new URL(ROOT + text, "http://localhost");
  return pathname.startsWith(`${ROOT}/`);
}
