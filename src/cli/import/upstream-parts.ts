import { placeholderOf } from "./providers.ts";

/** Members of an upstream: of its protocol, and its key where it has one. */
export type UpstreamPart = Readonly<Record<string, string | boolean>>;

interface KeySource {
  /** `api_key` of the entry. */
  readonly text: string | undefined;
  readonly keyVariable: string;
}

/** Names one upstream per address and key. An inline key becomes a variable that the operator sets. */
export function createUpstreams(notes: string[]) {
  const byName = new Map<string, UpstreamPart>();
  /** Variables of inline keys, by key. */
  const inline = new Map<string, string>();

  function keyOf({ text, keyVariable }: KeySource): string {
    if (text === undefined) return `\${${keyVariable}}`;
    const placeholder = placeholderOf(text);
    if (placeholder) return placeholder;
    const count = inline.size + 1;
    const variable = inline.get(text) ?? `IMPORTED_${keyVariable}_${count}`;
    if (!inline.has(text))
      notes.push(`A key was written in the file: set ${variable} to it, or ${variable}_FILE.`);
    inline.set(text, variable);
    return `\${${variable}}`;
  }

  return {
    name(provider: string, settings: UpstreamPart, key: KeySource | undefined): string {
      const part = { ...settings, ...(key ? { api_key: keyOf(key) } : {}) };
      const known = [...byName].find(([, each]) => Bun.deepEquals(each, part));
      if (known) return known[0];
      const taken = [...byName.keys()].filter((each) => each === provider || each.startsWith(`${provider}-`));
      const name = taken.length === 0 ? provider : `${provider}-${taken.length + 1}`;
      byName.set(name, part);
      return name;
    },
    list: (used: ReadonlySet<string>) => Object.fromEntries([...byName].filter(([name]) => used.has(name))),
  };
}
