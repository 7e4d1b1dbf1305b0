import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RanProgram, runProgram } from "../support/run-program.ts";
import { TOLLGATE } from "../support/tollgate-command.ts";
import { REPOSITORY } from "./pages.ts";

/** Of the repository, what the commands of a tutorial read. Packages are installed already. */
const LINKED = ["package.json", "src", "proto", "node_modules"];

/**
 * Stands in for Bun: its scripts `init` and `start` would install packages. A gateway that a tutorial starts is
 * started by its test.
 */
const BUN = `#!/bin/sh
case "$1 $2" in
  "run init") shift 2; exec ${TOLLGATE.join(" ")} init "$@" ;;
  "tollgate "*) shift; exec ${TOLLGATE.join(" ")} "$@" ;;
  "start "*) exit 0 ;;
esac
exec ${process.execPath} "$@"
`;

/** A clone of the repository, in which a reader follows a tutorial. */
export interface Clone {
  readonly folder: string;
  /** Runs lines in the clone, unchanged. */
  paste(text: string, environment?: Readonly<Record<string, string>>): Promise<RanProgram>;
  /** The environment of its commands. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Creates a clone without settings and data. */
export function createClone(folder: string): Clone {
  const bin = join(folder, "bin");
  const clone = join(folder, "clone");
  for (const path of [bin, clone]) mkdirSync(path);
  for (const name of LINKED) symlinkSync(join(REPOSITORY, name), join(clone, name));
  writeFileSync(join(bin, "bun"), BUN);
  chmodSync(join(bin, "bun"), 0o755);
  const environment = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: folder,
    LEDGER_LISTEN: "off",
    METRICS_LISTEN: "off",
  };
  return {
    folder: clone,
    environment,
    paste: (text, extra) =>
      runProgram(["sh", "-ec", text], { cwd: clone, env: { ...environment, ...extra } }),
  };
}
