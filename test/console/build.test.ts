import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Glob } from "bun";
import { listSources } from "../../src/app/console-build.ts";

const ROOT = join(import.meta.dir, "../..");
/** The first view with its chart, gzipped. */
const FIRST_VIEW_MAX = 152 * 1024;

interface Manifest {
  readonly html: string;
  readonly assets: readonly string[];
  readonly compressed: readonly string[];
  readonly sources: readonly string[];
}

describe("the build of the console", () => {
  const folder = mkdtempSync(join(tmpdir(), "console-build-"));
  const target = join(folder, "built");
  let manifest: Manifest;

  beforeAll(async () => {
    await build(target);
    manifest = await Bun.file(join(target, "manifest.json")).json();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("the first view with its chart is below 150 KB gzipped", async () => {
    const first = namesIn(manifest.html).filter((name) => name.endsWith(".css") || name.endsWith(".js"));
    const page = manifest.assets.filter((name) => /^(overview-page|chart-drawing)-.*\.js$/.test(name));
    const names = await withImports([...first, ...page]);
    const sizes = await Promise.all([...names].map(gzippedSize));
    const total = sizes.reduce((sum, size) => sum + size, Bun.gzipSync(manifest.html).byteLength);
    expect(names.size).toBeGreaterThan(4);
    expect(total).toBeLessThan(FIRST_VIEW_MAX);
  });

  test("every source of ours that the bundler reads is part of the digest", async () => {
    const digested = await listSources();
    const own = manifest.sources.filter((path) => !path.includes("node_modules/"));
    expect(own.length).toBeGreaterThan(50);
    expect(own.filter((path) => !digested.includes(path))).toEqual([]);
  });

  test("every asset that the page names exists, and each compressed one has both forms", async () => {
    for (const name of namesIn(manifest.html)) expect(manifest.assets).toContain(name);
    for (const name of manifest.compressed) {
      const bytes = await Bun.file(join(target, name)).bytes();
      expect(Bun.gunzipSync(await Bun.file(join(target, `${name}.gz`)).bytes())).toEqual(bytes);
      expect(
        new Uint8Array(Bun.zstdDecompressSync(await Bun.file(join(target, `${name}.zst`)).bytes())),
      ).toEqual(bytes);
    }
  });

  test("the page has no inline script and no inline style", () => {
    expect(manifest.html).not.toMatch(/<script(?![^>]*\ssrc=)/);
    expect(manifest.html).not.toMatch(/<style|\sstyle=|\son\w+=/);
  });

  test("no source of the browser names a colour or a font of another host", async () => {
    const sheets = manifest.assets.filter((name) => name.endsWith(".css"));
    for (const name of sheets) {
      const text = await Bun.file(join(target, name)).text();
      expect(text).not.toMatch(/url\(\s*["']?(?:https?:)?\/\//);
    }
  });

  test("two builds of the same sources are the same", async () => {
    const second = join(folder, "second");
    await build(second);
    expect(await Bun.file(join(second, "manifest.json")).json()).toEqual(manifest);
  });

  test("a build into a folder that another process has filled meanwhile succeeds and changes nothing", async () => {
    const before = await Bun.file(join(target, "manifest.json")).text();
    await build(target);
    expect(await Bun.file(join(target, "manifest.json")).text()).toBe(before);
    const drafts = await Array.fromAsync(new Glob("*").scan({ cwd: folder, onlyFiles: false }));
    expect(drafts.filter((name) => name.startsWith("built."))).toEqual([]);
  });

  async function withImports(names: readonly string[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    const visit = async (name: string): Promise<void> => {
      if (found.has(name)) return;
      found.add(name);
      if (!name.endsWith(".js")) return;
      const text = await Bun.file(join(target, name)).text();
      const imported = [
        ...text.matchAll(/\bfrom"\/console\/assets\/([^"]+)"|\bimport"\/console\/assets\/([^"]+)"/g),
      ];
      for (const [, from, bare] of imported) await visit(from ?? bare ?? "");
    };
    for (const name of names) await visit(name);
    return found;
  }

  async function gzippedSize(name: string): Promise<number> {
    return Bun.gzipSync(await Bun.file(join(target, name)).bytes(), { level: 9 }).byteLength;
  }
});

function namesIn(html: string): readonly string[] {
  return [...html.matchAll(/\/console\/assets\/([^"]+)/g)].map(([, name]) => name ?? "");
}

async function build(target: string): Promise<void> {
  const command = [process.execPath, join(ROOT, "src/console/build.ts"), target];
  const child = Bun.spawn(command, { cwd: ROOT, env: { NODE_ENV: "production" }, stderr: "pipe" });
  const [exitCode, faults] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  expect(faults).toBe("");
  expect(exitCode).toBe(0);
}
