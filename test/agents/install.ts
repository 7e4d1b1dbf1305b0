import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { runProgram } from "../support/run-program.ts";
import type { Package } from "./agent/agent.ts";

/** Folder of installed agents. Programs in it are run, so that no other user may be able to write to it. */
const FOLDER = resolve(import.meta.dir, "../../node_modules/.cache/agents");

/**
 * Returns the path of an agent's program. Installs a version that is not there yet, with a note on stderr.
 * Throws with the missing package when it cannot be installed.
 */
export async function requireAgent(pack: Package): Promise<string> {
  const found = await findProgram(pack);
  if (found) return found;
  await install(pack);
  const installed = await findProgram(pack);
  if (!installed) throw new Error(`npm's ${pack.name} ${pack.version} has no program that runs here`);
  return installed;
}

function folderOf({ name, version }: Package): string {
  return join(FOLDER, `${name.replace("@", "").replace("/", "-")}-${version}`);
}

/** Returns the first program that prints its version. One for another processor or C library cannot run. */
async function findProgram(pack: Package): Promise<string | undefined> {
  const modules = join(folderOf(pack), "node_modules");
  for (const pattern of pack.programs) {
    const paths = new Bun.Glob(pattern).scan({ cwd: modules, absolute: true, onlyFiles: true });
    for (const path of await Array.fromAsync(paths).catch(() => [])) {
      if ((await versionOf(path)).includes(pack.version)) return path;
    }
  }
  return undefined;
}

async function versionOf(path: string): Promise<string> {
  try {
    const env = { PATH: process.env.PATH ?? "", HOME: FOLDER };
    const child = Bun.spawn([path, "--version"], { env, stdin: "ignore", stdout: "pipe", stderr: "ignore" });
    return await new Response(child.stdout).text();
  } catch {
    return "";
  }
}

async function install(pack: Package): Promise<void> {
  const folder = folderOf(pack);
  console.error(`Installing npm's ${pack.name} ${pack.version} into ${folder}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  const command = [process.execPath, "add", "--exact", `${pack.name}@${pack.version}`];
  // Bun's default cache would remain in the user's home.
  const env = { ...process.env, BUN_INSTALL_CACHE_DIR: join(folder, "cache") };
  const { exitCode, stderr } = await runProgram(command, { cwd: folder, env });
  if (exitCode !== 0)
    throw new Error(`npm's ${pack.name} ${pack.version} cannot be installed: ${summaryOf(stderr)}`);
}

/** Returns the lines that Bun marks as errors, or its last three lines. */
function summaryOf(stderr: string): string {
  const lines = stderr.trim().split("\n");
  const errors = lines.filter((line) => line.startsWith("error"));
  return (errors.length > 0 ? errors : lines.slice(-3)).join(" ");
}
