import { dirname, join, resolve } from "node:path";
import { Glob } from "bun";

const ROOT = resolve(import.meta.dir, "../..");
/** Code that starts a server or a process, or connects to one. */
const EXTERNAL =
  /\bBun\.(serve|spawn|spawnSync|listen|connect|Terminal)\b|\bcreateServer\(|\bbindAsync\b|\bnew SQL\(|from "(ioredis|node:child_process)"/;
/** Loads nothing. */
const TYPE_IMPORT = /^import type\b[^;]*;/gm;
const IMPORT = /^(?:import|export)\b[^;]*?from "(\.[^"]+)"|^import "(\.[^"]+)"/gm;

/** Returns every test file, as a path from the repository's root. */
export async function findTestFiles(): Promise<readonly string[]> {
  return (await Array.fromAsync(new Glob("test/**/*.test.ts").scan(ROOT))).sort();
}

/** Unit tests that are left to the full run, because they take seconds. */
const SLOW: readonly string[] = [
  // These wait for real time: a poll of one second, a keep-alive, or a time limit of two seconds.
  "test/app/config-reload.test.ts",
  "test/http/event-stream.test.ts",
  "test/http/readiness.test.ts",
  // These start workers, one after the other.
  "test/bodies/worker.property.test.ts",
  "test/bodies/worker.test.ts",
  // These load the metrics library, or wait for the event loop to lag.
  "test/telemetry/metrics.test.ts",
  "test/telemetry/request-metrics.test.ts",
  // These write thousands of rows or files.
  "test/ledger/batch.test.ts",
  "test/ledger/sqlite-books.test.ts",
  "test/settlement-outbox/folder.test.ts",
  "test/settlement-outbox/outbox.test.ts",
  // This one parses documents of a megabyte, which takes five seconds of CPU time.
  "test/config/hostile-yaml.test.ts",
];

/**
 * Returns those of some test files that are unit tests: neither the file nor anything that it imports starts
 * a server or a process. Found by their imports, so that no list of them has to be maintained.
 */
export async function findUnitFiles(files: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(files.map((file) => !SLOW.includes(file) && isUnit(join(ROOT, file))));
  return files.filter((_, index) => found[index]);
}

async function isUnit(entry: string): Promise<boolean> {
  const reached = new Set([entry]);
  // Visits also files that are added during the loop.
  for (const path of reached) {
    const { isExternal, imports } = await readModule(path);
    if (isExternal) return false;
    for (const each of imports) reached.add(each);
  }
  return true;
}

interface Module {
  readonly isExternal: boolean;
  /** Absolute paths of its static imports below this repository. */
  readonly imports: readonly string[];
}

const modules = new Map<string, Promise<Module>>();

function readModule(path: string): Promise<Module> {
  const known = modules.get(path) ?? parseModule(path);
  modules.set(path, known);
  return known;
}

async function parseModule(path: string): Promise<Module> {
  if (!path.endsWith(".ts")) return { isExternal: false, imports: [] };
  const text = (await Bun.file(path).text()).replace(TYPE_IMPORT, "");
  const imports = [...text.matchAll(IMPORT)].map((match) => join(dirname(path), match[1] ?? match[2] ?? ""));
  return { isExternal: EXTERNAL.test(text), imports };
}
