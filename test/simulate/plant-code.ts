import { PLANTED_CODE } from "./planted-code.ts";
import { editSources, readSource } from "./source-edits.ts";

/** Returns what no longer fits the code: the faults with a text that does not occur exactly once in its file. */
export function findOutdated(): readonly string[] {
  return Object.entries(PLANTED_CODE).flatMap(([name, { edits }]) =>
    edits
      .filter(({ file, from }) => readSource(file).split(from).length !== 2)
      .map(({ file, from }) => `${name}: ${file} does not have once: ${from}`),
  );
}

/** Plants a fault into the code that is imported afterwards. Throws when there is none of that name. */
export function plantCode(name: string): void {
  const planted = PLANTED_CODE[name];
  if (!planted) throw new Error(`There is no planted fault ${name}`);
  const files = new Set(planted.edits.map(({ file }) => file));
  editSources(
    (path) => files.has(path),
    (path, text) =>
      planted.edits
        .filter(({ file }) => file === path)
        .reduce((edited, { from, to }) => {
          if (edited.split(from).length !== 2)
            throw new Error(`${name}: ${path} does not have once: ${from}`);
          return edited.replace(from, () => to);
        }, text),
  );
}
