import { resolve } from "node:path";

const ENTRY = resolve(import.meta.dir, "../../src/cli/tollgate.ts");
const { TEST_EXECUTABLE } = process.env;

/** The words that start the program from its sources, where Bun takes options such as a preloaded script. */
export const SOURCES: readonly string[] = [process.execPath, ENTRY];

/**
 * The words that start the program, before those of a command: Bun and the sources, or the executable that
 * `TEST_EXECUTABLE` names.
 */
export const TOLLGATE: readonly string[] = TEST_EXECUTABLE ? [resolve(TEST_EXECUTABLE)] : SOURCES;
