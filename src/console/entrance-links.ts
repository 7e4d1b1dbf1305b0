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
