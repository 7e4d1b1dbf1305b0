import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

/** Debian's file system in memory. */
const MEMORY = "/dev/shm";
const NAME = /^tollgate-run-(\d+)$/;
/** Test files and their servers need about 6 GB, and their files 1 GB at most. */
const FREE_MIN = 10 * 2 ** 30;

/**
 * Creates the folder for the temporary files of a run: below `chosen`, or else in memory, where a database costs a
 * third of the system's time. Memory that is scarce or executes no programs is not used.
 */
export function createRunFolder(chosen?: string): string {
  const isInMemory = !chosen && hasRoom();
  const folder = isInMemory ? createInMemory() : mkdtempSync(join(chosen || tmpdir(), "tollgate-run-"));
  // Lets a database server that runs as another user enter the folder, but not list it.
  chmodSync(folder, 0o711);
  return folder;
}

export function removeRunFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

function createInMemory(): string {
  removeAbandoned();
  const folder = join(MEMORY, `tollgate-run-${process.pid}`);
  mkdirSync(folder);
  return folder;
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    const mount = readFileSync("/proc/mounts", "utf8").split("\n").find(isMemory) ?? "noexec";
    return Math.min(bavail * bsize, freemem()) >= FREE_MIN && !mount.includes("noexec");
  } catch {
    // Another system has no such file system.
    return false;
  }
}

function isMemory(mount: string): boolean {
  return mount.startsWith(`tmpfs ${MEMORY} `);
}

/** Removes what killed runs have left, because memory would not come back by itself. */
function removeAbandoned(): void {
  for (const name of readdirSync(MEMORY)) {
    const pid = Number(NAME.exec(name)?.[1] ?? process.pid);
    if (pid !== process.pid && !isRunning(pid)) removeRunFolder(join(MEMORY, name));
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process of another user may not be asked.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
