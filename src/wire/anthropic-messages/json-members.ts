/** JSON of an object whose members are JSON already, as they stand; what is `undefined` is left out. */
export function joinMembers(members: Readonly<Record<string, string | undefined>>): string {
  const said = Object.entries(members).flatMap(([name, json]) =>
    json === undefined ? [] : `${JSON.stringify(name)}:${json}`,
  );
  return `{${said.join(",")}}`;
}

/** The members of an object, each in JSON, for {@link joinMembers}. */
export function printMembers(members: object): Record<string, string> {
  const said = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said.map(([name, value]) => [name, JSON.stringify(value)]));
}
