import { mkdir } from "node:fs/promises";
import { setPriority } from "node:os";
import { dirname, join } from "node:path";
import { Glob } from "bun";
import { DAY_MS } from "../domain/id-time.ts";
import type { BuildState, ConsoleBuild } from "../http/console/pages.ts";
import { repeat } from "../platform.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import { isPresent, markUsed, readBuild, sweepBuilds } from "./console-cache.ts";

const ROOT = join(import.meta.dir, "../..");
/**
 * Every file of ours that the pages are made from; a test compares it with what the bundler has read. Separate
 * patterns, because Bun's Glob finds nothing for `**` within braces.
 */
const SOURCES = [
  "src/console/**/*",
  "src/clients/**/*",
  "src/domain/**/*",
  "src/http/console/permissions.ts",
];
const BUILDER = join(ROOT, "src/console/build.ts");
/** A build takes about 1 s on an idle machine. A builder that takes longer is killed. */
const BUILD_MS = 120_000;
/** How long a page waits for a build before it is answered with one that reloads itself. */
const WAIT_MS = 300;
/** After a failure, pages are answered without another build for so long. */
const PAUSE_MS = 10_000;
/** A build is marked as used at least so often. */
const MARK_MS = DAY_MS;
const DIGEST_LENGTH = 24;
/** The builder yields the processor to requests. */
const NICE = 10;
const OUTPUT_LENGTH_MAX = 500;

/** Finds or makes the built files of the console. */
export interface ConsoleBuilder {
  /**
   * Resolves with the build. Starts one when there is none, and resolves with `building` when it takes longer
   * than 300 ms. A call at least 10 s after a failure tries again.
   */
  current(): Promise<BuildState>;
  /** Ends a running build. */
  close(): Promise<void>;
}

export interface ConsoleBuilderOptions {
  readonly dataFolder: string;
  readonly log: Log;
  /** For tests: the folders that builds are kept in, first choice first. */
  readonly caches?: readonly string[];
  /** For tests: the command that builds, before the folder to build into. */
  readonly command?: readonly string[];
  readonly buildMs?: number;
  readonly pauseMs?: number;
}

interface BuildSettings {
  readonly caches: readonly string[];
  readonly command: readonly string[];
  readonly buildMs: number;
  readonly signal: AbortSignal;
}

/**
 * Creates the builder. A build is kept under the digest of its sources: beside the installed packages, or in
 * the data folder where those are read-only or their disk is full.
 */
export function createConsoleBuilder({ dataFolder, log, ...options }: ConsoleBuilderOptions): ConsoleBuilder {
  const ended = new AbortController();
  const { pauseMs = PAUSE_MS } = options;
  const settings: BuildSettings = {
    caches: options.caches ?? [join(ROOT, "node_modules/.cache/console"), join(dataFolder, "console")],
    command: options.command ?? [process.execPath, BUILDER],
    buildMs: options.buildMs ?? BUILD_MS,
    signal: ended.signal,
  };
  let built: ConsoleBuild | undefined;
  let running: Promise<BuildState> | undefined;
  let failedAtMs = Number.NEGATIVE_INFINITY;

  const begin = async (): Promise<BuildState> => {
    try {
      built = await findOrBuild(settings);
      return built;
    } catch (error) {
      failedAtMs = performance.now();
      if (!ended.signal.aborted) log.error(describeFailure(error), "console build failed");
      return "failed";
    }
  };
  const marks = repeat({
    everyMs: MARK_MS,
    run: async () => built && markUsed(built, Date.now()),
    onFault: () => undefined,
  });
  return {
    async current() {
      // A build may be deleted by hand while it is served.
      if (built && (await isPresent(built))) return built;
      if (!running && performance.now() - failedAtMs < pauseMs) return "failed";
      running ??= begin().finally(() => {
        running = undefined;
      });
      return Promise.race([running, Bun.sleep(WAIT_MS).then(() => "building" as const)]);
    },
    async close() {
      ended.abort();
      await marks.close();
    },
  };
}

async function findOrBuild(settings: BuildSettings): Promise<ConsoleBuild> {
  const digest = await digestSources();
  const folders = settings.caches.map((cache) => join(cache, digest));
  const found = (await findFirst(folders)) ?? (await buildFirst(folders, settings));
  await markUsed(found, Date.now());
  await sweepBuilds(dirname(found.folder), found, Date.now());
  return found;
}

async function findFirst(folders: readonly string[]): Promise<ConsoleBuild | undefined> {
  for (const folder of folders) {
    const found = await readBuild(folder);
    if (found) return found;
  }
  return undefined;
}

/** Builds into the first folder where that succeeds. Throws the faults of all when none does. */
async function buildFirst(folders: readonly string[], settings: BuildSettings): Promise<ConsoleBuild> {
  const faults: unknown[] = [];
  for (const folder of folders) {
    try {
      await mkdir(dirname(folder), { recursive: true });
      await runBuilder(folder, settings);
      const built = await readBuild(folder);
      if (built) return built;
      throw new BuildFailure({ folder, exit: 0 });
    } catch (fault) {
      settings.signal.throwIfAborted();
      faults.push(fault);
    }
  }
  throw new AggregateError(faults);
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

interface FailureDetails {
  readonly folder: string;
  /** Exit code; null when a signal has ended the builder. */
  readonly exit: number | null;
  readonly signal?: string | number | null;
  /** The end of what the builder has printed: paths and names of our sources. */
  readonly output?: string;
}

class BuildFailure extends Error {
  override readonly name = "BuildFailure";
  readonly details: FailureDetails;
  constructor(details: FailureDetails) {
    super("The console's build failed");
    this.details = details;
  }
}

async function runBuilder(folder: string, { command, buildMs, signal }: BuildSettings): Promise<void> {
  const child = Bun.spawn([...command, folder], {
    cwd: ROOT,
    env: { NODE_ENV: "production" },
    stdio: ["ignore", "ignore", "pipe"],
    signal,
    timeout: buildMs,
    killSignal: "SIGKILL",
  });
  lowerPriority(child.pid);
  const [exit, output] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  if (exit === 0) return;
  const { exitCode, signalCode } = child;
  const printed = output.trim().slice(-OUTPUT_LENGTH_MAX);
  throw new BuildFailure({ folder, exit: exitCode, signal: signalCode, output: printed });
}

/** The child may have ended. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, NICE);
  } catch {
    return;
  }
}

function describeFailure(error: unknown) {
  const faults = error instanceof AggregateError ? error.errors : [error];
  return {
    failures: faults.map((fault) => (fault instanceof BuildFailure ? fault.details : describeFault(fault))),
  };
}
