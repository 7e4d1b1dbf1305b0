import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { runProgram } from "../support/run-program.ts";

const REPOSITORY = resolve(import.meta.dir, "../..");
/** So many that no background work runs as often. */
const REQUESTS = 200;

/**
 * Lists the files of src, by their path from src, that take part in a plain chat request. A file takes part when a
 * line of it ran at least once more for each request. Throws when the requests fail.
 */
export async function readRequestPath(): Promise<readonly string[]> {
  const idle = await countLines(0);
  const busy = await countLines(REQUESTS);
  const takesPart = (lines: ReadonlyMap<string, number>, path: string) =>
    lines.entries().some(([line, ran]) => ran - (idle.get(path)?.get(line) ?? 0) >= REQUESTS);
  return [...busy]
    .filter(([path, lines]) => takesPart(lines, path))
    .map(([path]) => relative("src", path))
    .sort();
}

type LinesOfFiles = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Runs a gateway that answers this many requests. Returns how often each line of each file ran. */
async function countLines(requests: number): Promise<LinesOfFiles> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-coverage-"));
  const coverage = ["--coverage", "--coverage-reporter=lcov", `--coverage-dir=${folder}`];
  const command = [process.execPath, "test", ...coverage, "./test/architecture/plain-requests-child.ts"];
  const env = { ...Bun.env, TEST_REQUESTS: String(requests) };
  try {
    const { exitCode, stderr } = await runProgram(command, { cwd: REPOSITORY, env });
    if (exitCode !== 0) throw new Error(`Plain chat requests failed:\n${stderr}`);
    return readLcov(readFileSync(join(folder, "lcov.info"), "utf8"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Reads the lines `SF:path` and `DA:line,count` of an lcov report; files outside of src are left out. */
function readLcov(text: string): LinesOfFiles {
  const files = new Map<string, Map<string, number>>();
  let lines = new Map<string, number>();
  for (const row of text.split("\n")) {
    if (row.startsWith("SF:")) {
      lines = new Map();
      if (row.startsWith("SF:src/")) files.set(row.slice(3), lines);
    }
    const [, line, ran] = /^DA:(\d+),(\d+)/.exec(row) ?? [];
    if (line && ran) lines.set(line, Number(ran));
  }
  return files;
}
