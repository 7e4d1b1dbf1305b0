import { type RanProgram, runProgram } from "../support/run-program.ts";
import { TOLLGATE } from "../support/tollgate-command.ts";

export interface Finished extends RanProgram {
  /** Parses stdout. Throws unless it is exactly one JSON object on one line. */
  json(): Record<string, unknown>;
}

/**
 * Runs a command line in a process of its own, with only the given environment. Serves no ledger by default.
 */
export async function runTollgate(
  folder: string,
  commandLine: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  const env = { LEDGER_LISTEN: "off", METRICS_LISTEN: "off", ...environment };
  const ran = await runProgram([...TOLLGATE, ...commandLine], { cwd: folder, env });
  return { ...ran, json: () => parseObject(ran) };
}

function parseObject({ stdout, stderr }: RanProgram): Record<string, unknown> {
  if (/^\{.*\}\n$/.test(stdout)) return JSON.parse(stdout);
  throw new Error(`Cannot find exactly one JSON object in: ${stdout}${stderr}`);
}
