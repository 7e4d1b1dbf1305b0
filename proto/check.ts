import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Glob } from "bun";
import { generate } from "./generate.ts";

// Part of `bun run check`: checks that src/gen is up to date, and that the protos break no caller of a landed
// version.

const ROOT = join(import.meta.dir, "..");
const scratch = await mkdtemp(join(tmpdir(), "tollgate-proto-"));
try {
  const problems = [...(await checkGenerated()), ...(await checkBreaking())];
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
} finally {
  await rm(scratch, { recursive: true, force: true });
}

async function checkGenerated(): Promise<string[]> {
  const folder = join(scratch, "gen");
  await generate(folder);
  const [fresh, kept] = await Promise.all([readTree(folder), readTree(join(ROOT, "src/gen"))]);
  const names = new Set([...fresh.keys(), ...kept.keys()]);
  return [...names]
    .filter((name) => fresh.get(name) !== kept.get(name))
    .map((name) => `src/gen/${name} is stale: run "bun run proto:generate"`);
}

async function readTree(folder: string): Promise<Map<string, string>> {
  const names = (await Array.fromAsync(new Glob("**/*").scan(folder))).sort();
  const contents = await Promise.all(names.map((name) => Bun.file(join(folder, name)).bytes()));
  return new Map(names.map((name, index) => [name, contents[index]?.toHex() ?? ""]));
}

/**
 * Compares the protos with the main branch, and with the newest commit on it that had another version of
 * them. A shallow clone has one commit to compare with, a copy without git none.
 */
async function checkBreaking(): Promise<string[]> {
  const landed = await findLanded();
  if (landed.length === 0) {
    console.log("No landed protos to compare with: this is no git checkout, or its commit has no protos.");
  }
  const problems = await Promise.all(landed.map((commit) => compareWith(commit)));
  return problems.flat();
}

async function findLanded(): Promise<readonly string[]> {
  const refs = ["origin/main", "main", "HEAD"];
  const heads = await Promise.all(
    refs.map((ref) => git("rev-parse", "--verify", "--quiet", `${ref}^{commit}`)),
  );
  const head = heads.find((each) => each !== undefined);
  if (head === undefined) return [];
  const before = await git("rev-list", "--max-count=1", "--skip=1", head, "--", "proto/tollgate");
  const commits = [head, ...(before ? [before] : [])];
  const trees = await Promise.all(
    commits.map((commit) => git("rev-parse", "--verify", "--quiet", `${commit}:proto`)),
  );
  return commits.filter((_, index) => trees[index] !== undefined);
}

async function compareWith(commit: string): Promise<string[]> {
  const archive = join(scratch, `${commit}.tar`);
  await git("archive", `--output=${archive}`, commit, "proto");
  const buf = Bun.spawn(
    [join(ROOT, "node_modules/.bin/buf"), "breaking", "proto", "--against", `${archive}#subdir=proto`],
    { cwd: ROOT, stdout: "pipe", stderr: "inherit" },
  );
  const lines = (await new Response(buf.stdout).text()).split("\n").filter((line) => line !== "");
  const failed = (await buf.exited) !== 0;
  if (failed && lines.length === 0) lines.push("buf could not compare the protos");
  return lines.map((line) => `${line} (landed in ${commit.slice(0, 12)})`);
}

/** Returns the output of git; `undefined` when git fails or is not installed. */
async function git(...words: string[]): Promise<string | undefined> {
  try {
    const run = Bun.spawn(["git", ...words], { cwd: ROOT, stdout: "pipe", stderr: "ignore" });
    const text = (await new Response(run.stdout).text()).trim();
    return (await run.exited) === 0 ? text : undefined;
  } catch {
    return undefined;
  }
}
