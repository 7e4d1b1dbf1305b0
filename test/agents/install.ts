import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Package } from "./agent/agent.ts";

/** Not in a folder that others can write to: what is found here is run. */
const FOLDER = resolve(import.meta.dir, "../../node_modules/.cache/agents");

/**
 * The path of an agent's program, installed where its version is not there yet, and said so on stderr.
 * Rejects in words that say what is missing.
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

/** The first program that says it is of the version; one for another processor or C library does not. */
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
  const child = Bun.spawn([process.execPath, "add", "--exact", `${pack.name}@${pack.version}`], {
    cwd: folder,
    // Bun's cache would stay in the user's home.
    env: { ...process.env, BUN_INSTALL_CACHE_DIR: join(folder, "cache") },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const said = await new Response(child.stderr).text();
  if ((await child.exited) !== 0)
    throw new Error(`npm's ${pack.name} ${pack.version} cannot be installed: ${errorsIn(said)}`);
}

/** What Bun calls an error, else its last words. */
function errorsIn(said: string): string {
  const lines = said.trim().split("\n");
  const errors = lines.filter((line) => line.startsWith("error"));
  return (errors.length > 0 ? errors : lines.slice(-3)).join(" ");
}
