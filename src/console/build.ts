// bun src/console/build.ts FOLDER   builds the console's files into FOLDER, which must not exist yet
//
// Runs as a child process, so that the memory of the bundler is given back. NODE_ENV must be "production".
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { constants, gzipSync, zstdCompressSync } from "node:zlib";

const HERE = import.meta.dir;
const PUBLIC_PATH = "/console/assets/";
/** Smaller files gain nothing from compression. */
const COMPRESSED_FROM = 1024;
const ZSTD_LEVEL = 19;

/** The facts of a build that the server needs; written as manifest.json. */
interface Manifest {
  /** The page of every path. */
  readonly html: string;
  /** File names of the assets. Those in `compressed` also have a `.gz` and a `.zst` file. */
  readonly assets: readonly string[];
  readonly compressed: readonly string[];
  /** Paths of the sources from the root of the project. */
  readonly sources: readonly string[];
}

type Output = Bun.BuildArtifact;

/** What packages have for others than the browsers of today, which pages need not load. */
const forBrowsers: NonNullable<Bun.BuildConfig["plugins"]>[number] = {
  name: "for browsers",
  setup(build) {
    // React has its own store since version 18.
    build.onResolve({ filter: /^use-sync-external-store\/shim\/with-selector$/ }, ({ importer }) => ({
      path: Bun.resolveSync("use-sync-external-store/with-selector", dirname(importer)),
    }));
    // The router asks at each step whether it runs on a server. Its own answer for browsers is no.
    build.onLoad(
      { filter: /@tanstack\/(router-core|react-router)\/dist\/esm\/.*\.js$/ },
      async ({ path }) => {
        const text = await Bun.file(path).text();
        return { contents: text.replace(/\bisServer \?\? [\w.]+\.isServer\b/g, "false"), loader: "js" };
      },
    );
  },
};

const [target] = Bun.argv.slice(2);
if (target === undefined) throw new Error("Expected the folder to build into");
await build(target);

/** Writes into a folder beside the target and renames it: a reader never sees half a build. */
async function build(folder: string): Promise<void> {
  const draft = `${folder}.${process.pid}`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true });
  try {
    const manifest = await bundle(draft);
    await writeFile(join(draft, "manifest.json"), JSON.stringify(manifest));
    await publish(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another process has built the same sources meanwhile.
    if (!(await hasBuild(folder))) throw error;
  }
}

/** A folder without a manifest is what a killed deletion has left: it makes room. */
async function publish(draft: string, folder: string): Promise<void> {
  try {
    await rename(draft, folder);
  } catch (error) {
    if (await hasBuild(folder)) throw error;
    await rm(folder, { recursive: true, force: true });
    await rename(draft, folder);
  }
}

function hasBuild(folder: string): Promise<boolean> {
  return Bun.file(join(folder, "manifest.json")).exists();
}

async function bundle(folder: string): Promise<Manifest> {
  const entrypoints = [join(HERE, "main.tsx"), join(HERE, "theme.ts")];
  const naming = "[name]-[hash].[ext]";
  const { outputs, metafile } = await Bun.build({
    entrypoints,
    target: "browser",
    splitting: true,
    minify: true,
    publicPath: PUBLIC_PATH,
    metafile: true,
    plugins: [forBrowsers],
    naming: { entry: naming, chunk: naming, asset: naming },
  });
  const styles = stylesOf(entryOf("main", outputs), metafile);
  // The other styles repeat parts of these, for pages that would be loaded alone.
  const kept = outputs.filter((output) => !nameOf(output).endsWith(".css") || nameOf(output) === styles);
  const compressed = await Promise.all(kept.map((output) => write(folder, output)));
  return {
    html: await printPage(outputs, metafile),
    assets: kept.map(nameOf).sort(),
    compressed: compressed.flat().sort(),
    sources: Object.keys(metafile?.inputs ?? {})
      .map((path) => join(path))
      .sort(),
  };
}

async function write(folder: string, output: Output): Promise<readonly string[]> {
  const name = nameOf(output);
  const bytes = new Uint8Array(await output.arrayBuffer());
  await writeFile(join(folder, name), bytes);
  if (bytes.byteLength < COMPRESSED_FROM) return [];
  const zstd = { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } };
  await writeFile(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));
  await writeFile(join(folder, `${name}.zst`), zstdCompressSync(bytes, zstd));
  return [name];
}

/**
 * Prints the page. Links to the chunks that the entry imports spare a round trip. The theme's script comes
 * first and blocks, so that no other theme is painted before.
 */
async function printPage(outputs: readonly Output[], metafile: Bun.BuildMetafile | undefined) {
  const [entry, theme] = [entryOf("main", outputs), entryOf("theme", outputs)];
  const page = await Bun.file(join(HERE, "index.html")).text();
  const preloads = chunksOf(entry, metafile).map(
    (name) => `<link rel="modulepreload" href="${PUBLIC_PATH}${name}">`,
  );
  const head = [
    `<script src="${PUBLIC_PATH}${theme}"></script>`,
    `<link rel="stylesheet" href="${PUBLIC_PATH}${stylesOf(entry, metafile)}">`,
    ...preloads,
    `<script type="module" src="${PUBLIC_PATH}${entry}"></script>`,
  ];
  return page.replace("<!-- assets -->", head.join("\n    "));
}

function entryOf(source: string, outputs: readonly Output[]): string {
  const entries = outputs.filter(({ kind }) => kind === "entry-point").map(nameOf);
  const found = entries.find((name) => name.startsWith(`${source}-`));
  if (found === undefined) throw new Error(`The build has no entry for ${source}`);
  return found;
}

/** Names of the chunks that an output imports before it runs, and those that they import. */
function chunksOf(name: string, metafile: Bun.BuildMetafile | undefined): readonly string[] {
  const found = new Set<string>();
  const visit = (each: string) => {
    for (const { path, kind } of outputOf(each, metafile)?.imports ?? []) {
      const target = basename(path);
      if (kind !== "import-statement" || found.has(target)) continue;
      found.add(target);
      visit(target);
    }
  };
  visit(name);
  return [...found];
}

/** The styles of an entry hold those of every page that it may load. */
function stylesOf(entry: string, metafile: Bun.BuildMetafile | undefined): string {
  const path = outputOf(entry, metafile)?.cssBundle;
  if (path === undefined) throw new Error("The build has no styles");
  return basename(path);
}

function outputOf(name: string, metafile: Bun.BuildMetafile | undefined) {
  return Object.entries(metafile?.outputs ?? {}).find(([path]) => basename(path) === name)?.[1];
}

function nameOf({ path }: Output): string {
  return basename(path);
}
