import { requireProgram } from "./installed-programs.ts";
import { runProgram } from "./run-program.ts";

/** Returns the path of a program of Debian's package prometheus. Throws where it cannot be installed. */
export function requirePrometheus(name: "prometheus" | "promtool" = "promtool"): Promise<string> {
  return requireProgram({ name, folders: [], debianPackage: "prometheus" });
}

/** The exit code of a program and everything that it printed. */
export interface Finished {
  readonly exitCode: number;
  readonly output: string;
}

/**
 * Runs promtool with this text as its input. Returns `undefined`, and says so on stderr, where promtool cannot be
 * installed: the checks that need it are left out.
 */
export async function runPromtool(arguments_: readonly string[], input = ""): Promise<Finished | undefined> {
  const promtool = await requirePrometheus().catch((error: Error) => {
    console.error(`The checks by promtool are left out. ${error.message}`);
    return undefined;
  });
  if (!promtool) return undefined;
  const { exitCode, stdout, stderr } = await runProgram([promtool, ...arguments_], { input });
  return { exitCode, output: `${stdout}${stderr}` };
}
