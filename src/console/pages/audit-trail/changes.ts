type Values = Readonly<Record<string, unknown>> | null;

/** What a change was from and to. `null` for what did not exist. */
export interface Change {
  readonly before: Values;
  readonly after: Values;
}

interface MemberChange {
  readonly name: string;
  /** `undefined` for a member that was not there. */
  readonly before: string | undefined;
  readonly after: string;
}

/** Lists the members that differ, in the order of the names. */
export function listChanges({ before, after }: Change): readonly MemberChange[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].sort();
  return names.flatMap((name) => {
    const from = before?.[name];
    const to = after?.[name];
    if (JSON.stringify(from) === JSON.stringify(to)) return [];
    return [{ name, before: from === undefined ? undefined : printValue(from), after: printValue(to) }];
  });
}

function printValue(value: unknown): string {
  if (value === undefined || value === null) return "none";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
