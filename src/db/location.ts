/**
 * The database of accounts, keys and money. `path` is absolute. `url` may hold a password, so print
 * {@link describeLocation} instead.
 */
export type DatabaseLocation =
  | { readonly dialect: "sqlite"; readonly path: string }
  | { readonly dialect: "postgres"; readonly url: string };

/** Returns a printable location: the path, or the host and name without user, password and parameters. */
export function describeLocation(location: DatabaseLocation): string {
  if (location.dialect === "sqlite") return location.path;
  const { host, pathname, searchParams } = new URL(location.url);
  return `postgres://${searchParams.get("host") ?? host}${pathname}`;
}
