import { readdirSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { isOpenElsewhere } from "../db/sqlite/in-use.ts";
import { outboxFolder } from "../settlement-outbox/folder.ts";
import type { Manifest } from "./manifest.ts";

/** Whether the original of a copy runs: `unknown` when it was on another machine. */
export type OriginalState = "stopped" | "running" | "unknown";

/** Finds out whether a process of this machine uses the database of a backup, or its settlement outbox. */
export function findOriginal({ host, database, data_folder }: Manifest["source"]): OriginalState {
  if (host !== hostname()) return "unknown";
  // A file that was moved away may still be in use: its gateway then holds a lock in the data folder.
  const isRunning = isOpenElsewhere(database) || outboxLocks(data_folder).some(isOpenElsewhere);
  return isRunning ? "running" : "stopped";
}

function outboxLocks(dataFolder: string): readonly string[] {
  const folder = outboxFolder(dataFolder);
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith("-lock"));
    return names.map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** Throws Error, one sentence, unless the original of a copy is stopped, or is confirmed to be. */
export function requireStopped(state: OriginalState, isConfirmed: boolean): void {
  if (state === "running") {
    throw new Error("The original is running: stop it first. Two copies would both charge.");
  }
  if (state === "unknown" && !isConfirmed) {
    throw new Error(
      "Whether the original runs cannot be checked from here. When it is stopped, add --original-is-stopped.",
    );
  }
}
