import { lstatSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "../../support/run-program.ts";
import type { PinnedPackage } from "./packages.ts";

/**
 * Returns the folder of an installed package. Installs a version that is not there yet, with a note on stderr.
 * Throws an error that starts with "cannot be installed" otherwise.
 */
export async function requirePackage(pack: PinnedPackage, cache: string): Promise<string> {
  createPrivateFolder(cache);
  const folder = join(cache, folderNameOf(pack));
  const marker = Bun.file(join(folder, "installed.json"));
  const wanted = JSON.stringify(pack);
  if ((await marker.exists()) && (await marker.text()) === wanted) return folder;
  console.error(`Installing ${pack.registry}'s ${pack.name} ${pack.version} into ${folder}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  await (pack.registry === "npm" ? installFromNpm(pack, folder) : installFromPyPI(pack, folder));
  await Bun.write(marker, wanted);
  return folder;
}

/** Programs of the folder are run, so that no other user may be able to write to it. */
function createPrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(path);
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0)
    throw new Error(`cannot be installed: other users can write to ${path}`);
}

function folderNameOf({ name, version }: PinnedPackage): string {
  return `${name.replaceAll(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "")}-${version}`;
}

async function installFromNpm({ name, version, overrides }: PinnedPackage, folder: string): Promise<void> {
  const manifest = { private: true, dependencies: { [name]: version }, overrides };
  await Bun.write(join(folder, "package.json"), JSON.stringify(manifest));
  await run([process.execPath, "install", "--ignore-scripts"], folder);
}

async function installFromPyPI({ name, version }: PinnedPackage, folder: string): Promise<void> {
  await run(["python3", "-m", "venv", "venv"], folder);
  const pip = ["venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
  await run([...pip, `${name}==${version}`], folder);
}

/** Runs a command in a folder. Throws with the last line of its errors unless it exits with 0. */
async function run(command: readonly string[], folder: string): Promise<void> {
  if (Bun.which(command[0] ?? "", { cwd: folder }) === null)
    throw new Error(`cannot be installed: there is no ${command[0]}`);
  const { exitCode, stdout, stderr } = await runProgram(command, { cwd: folder });
  if (exitCode === 0) return;
  const reason = `${stdout}${stderr}`.trim().split("\n").at(-1) ?? "";
  throw new Error(`cannot be installed: ${reason.slice(0, REASON_LENGTH_MAX)}`);
}

const REASON_LENGTH_MAX = 300;
