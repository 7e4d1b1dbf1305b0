/**
 * JSON of an object whose members are JSON already, as they stand; what is `undefined` is left out. Names are
 * ours and need no escapes. Adding up texts costs nothing until somebody reads them; joining lists copies each time.
 */
export function joinMembers(members: Readonly<Record<string, string | undefined>>): string {
  let said = "";
  for (const name in members) {
    const json = members[name];
    if (json !== undefined) said += `${said && ","}"${name}":${json}`;
  }
  return `{${said}}`;
}

/** JSON of a list whose elements are JSON already. */
export function joinElements(elements: readonly string[]): string {
  let said = "";
  for (const json of elements) said += said === "" ? json : `,${json}`;
  return `[${said}]`;
}

/** The members of an object, each in JSON, for {@link joinMembers}. */
export function printMembers(members: Readonly<Record<string, unknown>>): Record<string, string | undefined> {
  const printed: Record<string, string | undefined> = {};
  for (const name in members) printed[name] = JSON.stringify(members[name]);
  return printed;
}
