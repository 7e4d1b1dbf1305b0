// bun run build                        dist/tollgate, for this machine
// bun run build --target=linux-arm64   dist/tollgate-linux-arm64: also linux-x64, darwin-arm64, darwin-x64
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type BunPlugin, Glob } from "bun";

const ROOT = join(import.meta.dir, "..");
const MAIN = "src/cli/tollgate.ts";
/** How a file names the script of a worker that it starts. */
const WORKER = /new URL\("(\.[\w./-]+\.ts)", import\.meta\.url\)/g;
/** Files that programs and packages read as they run. The executable has them under the same paths. */
const FILES = [
  "node_modules/@grpc/reflection/build/proto/grpc",
  "node_modules/grpc-health-check/proto",
  "proto/google",
  "proto/tollgate",
  "src/catalog/known-models.jsonl",
  "src/gen/ledger.binpb",
];
/** Where an executable finds its files. */
const INSIDE = "/$bunfs/root";

interface ExecutableOptions {
  /** Path of the executable, whose folder is created. */
  readonly outfile: string;
  /** Printed by `tollgate --version`. */
  readonly commit: string;
  /** Such as "linux-arm64". Default: this machine. Bun downloads what it needs for another one. */
  readonly target?: string | undefined;
}

/** Builds one executable with every command, worker, proto, migration and page. Rejects when it cannot. */
async function buildExecutable({ outfile, commit, target }: ExecutableOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-build-"));
  try {
    await collectFiles(folder);
    await mkdir(dirname(outfile), { recursive: true });
    // Embedded files are named by their path from the working directory.
    process.chdir(folder);
    await Bun.build({
      entrypoints: [MAIN, ...(await findWorkers())].map((path) => join(ROOT, path)),
      target: "bun",
      splitting: true,
      // Parsed at build: a start takes a fifth less CPU. Bytecode is only for one module unless the format is named.
      bytecode: true,
      format: "esm",
      // All at the root, where each worker is looked for.
      naming: { entry: "[name].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
      plugins: [movedWorkers, movedPackages],
      define: { TOLLGATE_COMMIT: JSON.stringify(commit), "process.env.NODE_ENV": '"production"' },
      compile: {
        outfile,
        assets: ["console", "node_modules", "proto", "src"],
        // A bunfig.toml in the working directory could run code of its own.
        autoloadBunfig: false,
        ...(target === undefined ? {} : { target: readTarget(target) }),
      },
    });
  } finally {
    process.chdir(ROOT);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Sources name the script of a worker by the path from their own folder, which the executable does not have. */
const movedWorkers: BunPlugin = {
  name: "moved workers",
  setup(build) {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
      const text = await Bun.file(path).text();
      if (!path.startsWith(ROOT) || !text.includes("import.meta.url")) return undefined;
      const contents = text.replaceAll(
        WORKER,
        (_, script: string) => `new URL("./${basename(script)}", import.meta.url)`,
      );
      return { contents, loader: "ts" };
    });
  },
};

/** Packages read files beside their code, whose folder the bundler would fix to that of this machine. */
const movedPackages: BunPlugin = {
  name: "moved packages",
  setup(build) {
    build.onLoad({ filter: /\/node_modules\/.*\.c?js$/ }, async ({ path }) => {
      const text = await Bun.file(path).text();
      // Modules that compute it themselves have no such variable to replace.
      if (!text.includes("__dirname") || /\bconst __dirname\b/.test(text)) return undefined;
      const folder = JSON.stringify(join(INSIDE, relative(ROOT, dirname(path))));
      return { contents: text.replaceAll(/\b__dirname\b/g, () => folder), loader: "js" };
    });
  },
};

/** Returns the scripts of all workers, from the root of the project. Throws when two have one name. */
async function findWorkers(): Promise<readonly string[]> {
  const found = new Map<string, string>();
  for await (const path of new Glob("src/**/*.ts").scan(ROOT)) {
    const text = await Bun.file(join(ROOT, path)).text();
    for (const [, script = ""] of text.matchAll(WORKER)) {
      const worker = join(dirname(path), script);
      const other = found.get(basename(worker)) ?? worker;
      if (other !== worker) throw new Error(`Workers need different names: ${other}, ${worker}`);
      found.set(basename(worker), worker);
    }
  }
  return [...found.values()].sort();
}

async function collectFiles(folder: string): Promise<void> {
  for (const path of FILES) await cp(join(ROOT, path), join(folder, path), { recursive: true });
  const builder = Bun.spawn([process.execPath, "src/console/build.ts", join(folder, "console")], {
    cwd: ROOT,
    env: { NODE_ENV: "production" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  if ((await builder.exited) !== 0) throw new Error("The console cannot be built");
}

function readTarget(target: string): Bun.Build.CompileTarget {
  if (!/^(linux|darwin)-(x64|arm64)(-baseline|-musl)?$/.test(target)) {
    throw new Error(`Expected a target such as linux-x64, got ${target}`);
  }
  // Safe because Bun names its targets so.
  return `bun-${target}` as Bun.Build.CompileTarget;
}

/** Returns `TOLLGATE_COMMIT`, which a build without git is given, or what git finds here. */
async function findCommit(): Promise<string> {
  const given = process.env.TOLLGATE_COMMIT;
  if (given) return given;
  const git = Bun.spawn(["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const text = (await new Response(git.stdout).text()).trim();
  return (await git.exited) === 0 ? text : "unknown commit";
}

const { values } = parseArgs({ options: { target: { type: "string" }, outfile: { type: "string" } } });
const { target } = values;
const outfile = resolve(values.outfile ?? join(ROOT, "dist", target ? `tollgate-${target}` : "tollgate"));
await buildExecutable({ outfile, commit: await findCommit(), target });
console.log(`${outfile} (${Math.round(Bun.file(outfile).size / 1_000_000)} MB)`);
