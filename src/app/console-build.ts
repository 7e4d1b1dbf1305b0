import { access, constants, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Glob } from "bun";
import type { BuildState, ConsoleBuild } from "../http/console/pages.ts";
import { describeFault, type Log } from "../telemetry/log.ts";

const ROOT = join(import.meta.dir, "../..");
/**
 * Every file of ours that the pages are made from; a test compares it with what the bundler has read. Separate
 * patterns, because Bun's Glob finds nothing for `**` within braces.
 */
const SOURCES = ["src/console/**/*", "src/domain/**/*", "src/http/console/permissions.ts"];
const BUILDER = join(ROOT, "src/console/build.ts");
/** A build takes about 1 s on an idle machine. */
const BUILD_MS = 120_000;
/** How long a page waits for a build before it is answered with one that reloads itself. */
const WAIT_MS = 300;
const DIGEST_LENGTH = 24;

/** Finds or makes the built files of the console. */
export interface ConsoleBuilder {
  /**
   * Resolves with the build. Starts one when there is none, and resolves with `building` when it takes longer
   * than 300 ms. After a failure, the next call tries again.
   */
  current(): Promise<BuildState>;
  /** Ends a running build. */
  close(): void;
}

/**
 * Creates the builder. A build is kept under the digest of its sources: beside the installed packages, or in
 * the data folder where those are read-only.
 */
export function createConsoleBuilder({ dataFolder, log }: { dataFolder: string; log: Log }): ConsoleBuilder {
  const ended = new AbortController();
  let running: Promise<BuildState> | undefined;
  const begin = async (): Promise<BuildState> => {
    try {
      return await findOrBuild(dataFolder, ended.signal);
    } catch (error) {
      if (!ended.signal.aborted) log.error(describeFault(error), "console build failed");
      running = undefined;
      return "failed";
    }
  };
  return {
    current() {
      running ??= begin();
      return Promise.race([running, Bun.sleep(WAIT_MS).then(() => "building" as const)]);
    },
    close: () => ended.abort(),
  };
}

async function findOrBuild(dataFolder: string, signal: AbortSignal): Promise<ConsoleBuild> {
  const digest = await digestSources();
  const caches = [join(ROOT, "node_modules/.cache/console"), join(dataFolder, "console")];
  const folders = caches.map((cache) => join(cache, digest));
  for (const folder of folders) {
    const found = await readBuild(folder);
    if (found) return found;
  }
  const folder = await firstWritable(caches, digest);
  await runBuilder(folder, signal);
  const built = await readBuild(folder);
  if (!built) throw new Error(`The console's build left nothing in ${folder}`);
  return built;
}

/** Digest of everything that the built files depend on: sources, versions of packages, the bundler. */
async function digestSources(): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256").update(Bun.version);
  const own = await listSources();
  for (const path of ["bun.lock", ...own]) {
    hash.update(`\0${path}\0`).update(await Bun.file(join(ROOT, path)).bytes());
  }
  return hash.digest("hex").slice(0, DIGEST_LENGTH);
}

/** Returns the sorted paths of the sources from the root of the project. */
export async function listSources(): Promise<readonly string[]> {
  const found = await Promise.all(SOURCES.map((pattern) => Array.fromAsync(new Glob(pattern).scan(ROOT))));
  return found.flat().sort();
}

async function readBuild(folder: string): Promise<ConsoleBuild | undefined> {
  const manifest = Bun.file(join(folder, "manifest.json"));
  if (!(await manifest.exists())) return undefined;
  // Safe because the builder wrote it, and renamed the folder after its last file.
  const { html, assets, compressed } = (await manifest.json()) as Omit<ConsoleBuild, "folder">;
  return { folder, html, assets, compressed };
}

async function firstWritable(caches: readonly string[], name: string): Promise<string> {
  for (const cache of caches) {
    const isWritable = await mkdir(cache, { recursive: true })
      .then(() => access(cache, constants.W_OK))
      .then(
        () => true,
        () => false,
      );
    if (isWritable) return join(cache, name);
  }
  throw new Error(`None of these folders can be written: ${caches.join(", ")}`);
}

async function runBuilder(folder: string, signal: AbortSignal): Promise<void> {
  const child = Bun.spawn([process.execPath, BUILDER, folder], {
    cwd: ROOT,
    env: { NODE_ENV: "production" },
    stdio: ["ignore", "ignore", "pipe"],
    signal,
    timeout: BUILD_MS,
  });
  const [exitCode, faults] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  if (exitCode !== 0)
    throw new Error(`The console's build ended with ${exitCode}: ${faults.slice(0, 2_000)}`);
}
