import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { plugin } from "bun";

const ROOT = join(import.meta.dir, "../..");

/**
 * Loads files of `src` with another text than they have. Must be called before the first of them is imported.
 * `edit` gets a path from the root of the repository, such as `src/gateway/settle.ts`.
 */
export function editSources(
  isEdited: (path: string) => boolean,
  edit: (path: string, text: string) => string,
): void {
  plugin({
    name: "source-edits",
    setup(build) {
      build.onLoad({ filter: /\/src\/.+\.ts$/ }, ({ path }) => {
        const name = relative(ROOT, path);
        const text = readFileSync(path, "utf8");
        return { contents: isEdited(name) ? edit(name, text) : text, loader: "ts" };
      });
    },
  });
}

/** Reads a file by its path from the root of the repository. */
export function readSource(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}
