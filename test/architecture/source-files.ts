import { dirname, join, normalize } from "node:path";
import { Glob } from "bun";

const SRC = join(import.meta.dir, "../../src");
const IMPORT = /^\s*(?:import|export)\b[^;]*?from "([^"]+)"|\bimport\("([^"]+)"\)|^import "([^"]+)"/gm;

/** A source file with what it imports; `import type` counts too. */
export interface SourceFile {
  /** Path from src. */
  readonly path: string;
  readonly text: string;
  /** Paths from src for our own files, package names for others. */
  readonly imports: readonly string[];
}

/** Reads every TypeScript file of src. */
export async function readSources(): Promise<readonly SourceFile[]> {
  const paths = await Array.fromAsync(new Glob("**/*.{ts,tsx}").scan(SRC));
  return Promise.all(paths.sort().map(readSource));
}

async function readSource(path: string): Promise<SourceFile> {
  const text = await Bun.file(join(SRC, path)).text();
  const imports = [...text.matchAll(IMPORT)].map((match) => {
    const target = match[1] ?? match[2] ?? match[3] ?? "";
    return target.startsWith(".") ? normalize(join(dirname(path), target)) : target;
  });
  return { path, text, imports };
}
