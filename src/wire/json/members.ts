/**
 * Prints a JSON object from members whose values are JSON text. Omits `undefined` values and does not escape
 * names. Concatenates strings, because the engine copies a concatenated string only once, when it is read.
 */
export function joinMembers(members: Readonly<Record<string, string | undefined>>): string {
  let joined = "";
  for (const name in members) {
    const json = members[name];
    if (json !== undefined) joined += `${joined && ","}"${name}":${json}`;
  }
  return `{${joined}}`;
}

/** Prints a JSON array from elements that are JSON text. */
export function joinElements(elements: readonly string[]): string {
  let joined = "";
  for (const json of elements) joined += joined === "" ? json : `,${json}`;
  return `[${joined}]`;
}

/** Prints each member of an object as JSON, for {@link joinMembers}. */
export function printMembers(members: Readonly<Record<string, unknown>>): Record<string, string | undefined> {
  const printed: Record<string, string | undefined> = {};
  for (const name in members) printed[name] = JSON.stringify(members[name]);
  return printed;
}
