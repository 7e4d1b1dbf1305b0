import { readdirSync, readFileSync, statSync } from "node:fs";

/** Part of the limit that requests may use. The rest is for the database, the outbox and new connections. */
const USABLE_SHARE = 0.9;

/** The open files of this process. */
export interface OpenFiles {
  /** How many there may be; `undefined` where the system does not say. */
  readonly max: number | undefined;
  /** How many more may be opened before nine tenths of them are open; 0 or less when they are. */
  room(): number;
}

/** Finds the open files of this process in a folder of Linux. Elsewhere, there is always room. */
export function findOpenFiles(folder = "/proc/self"): OpenFiles {
  const max = readMax(folder);
  if (max === undefined) return { max, room: () => Number.POSITIVE_INFINITY };
  return { max, room: () => Math.floor(max * USABLE_SHARE) - countFiles(`${folder}/fd`) };
}

/** Reads the soft limit, which Bun raises to the hard limit as it starts. */
function readMax(folder: string): number | undefined {
  try {
    const [, max] = /^Max open files +(\d+) /m.exec(readFileSync(`${folder}/limits`, "utf8")) ?? [];
    return max === undefined ? undefined : Number(max);
  } catch {
    return undefined;
  }
}

/** Linux 6.2 and later has the number as the size of the folder; reading its names costs more. */
function countFiles(folder: string): number {
  try {
    return statSync(folder).size || readdirSync(folder).length;
  } catch (fault) {
    // Also the reading needs a file.
    if (isFilesUsedUp(fault)) return Number.POSITIVE_INFINITY;
    throw fault;
  }
}

/** Whether a fault says that the process, or the machine, can open no more files. */
export function isFilesUsedUp(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && (fault.code === "EMFILE" || fault.code === "ENFILE");
}
