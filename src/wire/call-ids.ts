/**
 * Gives each tool call of an answer the id that its upstream gave, or one of ours where that is unusable or was
 * given before: clients tell calls by their ids. `own` makes one of ours from how many calls there were.
 */
export function createCallIds(
  own: (calls: number) => string,
  isUsable: (id: string) => boolean = (id) => id !== "",
): (id: string) => string {
  const used = new Set<string>();
  return (id) => {
    const given = isUsable(id) && !used.has(id) ? id : own(used.size);
    used.add(given);
    return given;
  };
}
