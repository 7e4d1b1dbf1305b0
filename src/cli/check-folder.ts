import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Why a folder cannot be written, as "what is wrong, what is expected". Of one that is not there, the nearest
 * that is decides whether it can be created.
 */
export function findFolderProblem(folder: string): string | undefined {
  if (!existsSync(folder)) return findFolderProblem(dirname(folder));
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    if (statSync(folder).isDirectory()) return undefined;
  } catch {
    // Said below.
  }
  return "cannot be created, expected a folder that this user may write";
}
