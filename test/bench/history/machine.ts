import { availableParallelism, cpus, release, totalmem } from "node:os";
import { resolve } from "node:path";
import type { Commit, Machine } from "./line.ts";

const REPOSITORY = resolve(import.meta.dir, "../../..");
const GB = 1024 ** 3;
/** Written by a kept run, so that they do not make the next one dirty. */
const OWN_FILES = [":!docs/performance", ":!docs/performance.md", ":!docs/benchmarks.md"];

/** Describes this machine. */
export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / GB),
    kernel: release(),
    bun: Bun.version,
  };
}

/** Reads the commit of this checkout. The hash is "unknown" outside of a Git repository. */
export function readCommit(): Commit {
  const hash = git("rev-parse", "--short", "HEAD");
  if (hash === undefined) return { hash: "unknown", isDirty: true };
  return { hash, isDirty: git("status", "--porcelain", "--", ".", ...OWN_FILES) !== "" };
}

function git(...args: readonly string[]): string | undefined {
  const { exitCode, stdout } = Bun.spawnSync(["git", ...args], { cwd: REPOSITORY, stderr: "ignore" });
  return exitCode === 0 ? stdout.toString().trim() : undefined;
}
