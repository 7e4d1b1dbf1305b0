// What requests count for, as the URL and the API hold it: "project:ID". No id has a line feed, which separates several.

/** Reads the scopes of a filter, each "kind:id". */
export function listScopes(text: string | undefined): readonly string[] {
  return text ? text.split("\n") : [];
}

/** Adds a scope to a filter, in place of one of the same kind; of tags, of the same key. */
export function addScope(text: string | undefined, scope: string): string {
  const kept = listScopes(text).filter((each) => nameOfScope(each) !== nameOfScope(scope));
  return [...kept, scope].join("\n");
}

/** Removes a scope from a filter; `undefined` when none is left. */
export function removeScope(text: string | undefined, scope: string): string | undefined {
  return (
    listScopes(text)
      .filter((each) => each !== scope)
      .join("\n") || undefined
  );
}

/** Splits "end_user:ada" into its kind and its id. */
export function splitScope(scope: string): readonly [kind: string, id: string] {
  const colon = scope.indexOf(":");
  return [scope.slice(0, colon), scope.slice(colon + 1)];
}

/** What a filter has once: a kind, or a tag's key. */
function nameOfScope(scope: string): string {
  const [kind, id] = splitScope(scope);
  return kind === "tag" ? `tag:${id.slice(0, id.indexOf("="))}` : kind;
}
