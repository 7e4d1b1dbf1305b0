/** Printable ASCII without a backslash; what else a path may have is percent-encoded. */
const OWN_PATH = /^\/(?!\/)[!-[\]-~]*$/;

const ROOT = "/console";

/** Returns a path of this console to go on to, and "/" for anything that could lead elsewhere. */
export function safePath(text: string | undefined): string {
  return text !== undefined && OWN_PATH.test(text) && staysBelow(text) ? text : "/";
}

/** Browsers resolve "..", also percent-encoded, before they show an address. */
function staysBelow(text: string): boolean {
  const { pathname } = new URL(ROOT + text, "http://localhost");
  return pathname.startsWith(`${ROOT}/`);
}

/** Tokens of links, by the path that they came with. Kept in memory alone. */
const taken = new Map<string, string>();

/**
 * Returns the token of a link from a mail, and takes it out of the address bar, the history and any later
 * referrer. A later call for the same path returns the same token; "" when there was none.
 */
export function takeToken(path: string): string {
  const { pathname, search } = location;
  const token = new URLSearchParams(search).get("token");
  if (token !== null && pathname.endsWith(path)) {
    taken.set(path, token);
    history.replaceState(history.state, "", pathname);
  }
  return taken.get(path) ?? "";
}

export function forgetToken(path: string): void {
  taken.delete(path);
}
