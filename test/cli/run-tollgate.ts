import { TOLLGATE } from "../support/tollgate-command.ts";

export interface Finished {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
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
  const child = Bun.spawn([...TOLLGATE, ...commandLine], {
    cwd: folder,
    env: { LEDGER_LISTEN: "off", METRICS_LISTEN: "off", ...environment },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exitCode, stdout, stderr, json: () => parseObject(stdout) };
}

function parseObject(text: string): Record<string, unknown> {
  if (!/^\{.*\}\n$/.test(text)) throw new Error(`Cannot find exactly one JSON object in: ${text}`);
  return JSON.parse(text);
}
