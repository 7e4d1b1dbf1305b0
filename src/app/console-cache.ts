import { readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { DAY_MS } from "../domain/id-time.ts";
import type { ConsoleBuild } from "../http/console/pages.ts";

/** A build that no process has served for so long is deleted. */
const UNUSED_MS_MAX = 7 * DAY_MS;
/** A draft of a builder that was killed. A build takes two minutes at most. */
const DRAFT_MS_MAX = 3_600_000;
/** Builds are named by their digest, and drafts by digest and process. */
const BUILD_OR_DRAFT = /^[0-9a-f]{24}(\.\d+)?$/;

/** Reads the console build in a folder; `undefined` for a missing or incomplete build. */
export async function readBuild(folder: string): Promise<ConsoleBuild | undefined> {
  const manifest = Bun.file(manifestOf(folder));
  if (!(await manifest.exists())) return undefined;
  // Safe because the builder wrote it, and renamed the folder after its last file.
  const { html, assets, compressed } = (await manifest.json()) as Omit<ConsoleBuild, "folder">;
  return { folder, html, assets, compressed };
}

/** Whether a build that was read is still there. */
export function isPresent({ folder }: ConsoleBuild): Promise<boolean> {
  return Bun.file(manifestOf(folder)).exists();
}

/** Records that a process serves a build. Does nothing on a read-only disk, where nothing is deleted either. */
export async function markUsed({ folder }: ConsoleBuild, nowMs: number): Promise<void> {
  const at = new Date(nowMs);
  await utimes(manifestOf(folder), at, at).catch(() => undefined);
}

/**
 * Deletes the other builds of a cache that no process has marked for 7 days, and drafts older than an hour.
 * Never rejects: what cannot be deleted stays.
 */
export async function sweepBuilds(cache: string, kept: ConsoleBuild, nowMs: number): Promise<void> {
  const names = await readdir(cache).catch(() => []);
  for (const name of names.filter((each) => BUILD_OR_DRAFT.test(each))) {
    const folder = join(cache, name);
    if (folder === kept.folder) continue;
    const isDraft = name.includes(".");
    const usedAtMs = await lastChange(isDraft ? folder : manifestOf(folder), folder);
    if (usedAtMs === undefined || nowMs - usedAtMs < (isDraft ? DRAFT_MS_MAX : UNUSED_MS_MAX)) continue;
    // The manifest goes first: no process that starts now takes the rest for a build.
    await rm(manifestOf(folder), { force: true }).catch(() => undefined);
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Unix milliseconds of the first path that exists. */
async function lastChange(...paths: readonly string[]): Promise<number | undefined> {
  for (const path of paths) {
    const found = await stat(path).catch(() => undefined);
    if (found) return found.mtimeMs;
  }
  return undefined;
}

function manifestOf(folder: string): string {
  return join(folder, "manifest.json");
}
