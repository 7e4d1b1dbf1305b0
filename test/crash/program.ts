import { runProgram } from "../support/run-program.ts";
import { TOLLGATE } from "../support/tollgate-command.ts";

/** Long enough for a busy machine. */
const START_MS = 120_000;

/** A tollgate process that is killed and restarted on fixed addresses. */
export interface Program {
  readonly name: string;
  /** Starts the process and waits until it serves. Throws with its output when it does not. */
  start(): Promise<void>;
  /** Ends the process with SIGKILL. */
  kill(): Promise<void>;
  /** Ends the process with SIGTERM. Returns its exit code. */
  stop(): Promise<number>;
  hasEnded(): boolean;
  /** Returns the output since the last start. */
  output(): string;
}

export interface ProgramOptions {
  /** The command: "serve" or "ledger". */
  readonly name: string;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  isServing(): Promise<boolean>;
}

export function createProgram({ name, folder, environment, isServing }: ProgramOptions): Program {
  let child: Bun.Subprocess<"ignore", "pipe", "pipe"> | undefined;
  let printed = "";

  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) printed += decoder.decode(chunk, { stream: true });
  };
  const end = async (signal: "SIGKILL" | "SIGTERM") => {
    child?.kill(signal);
    return (await child?.exited) ?? 0;
  };

  return {
    name,
    async start() {
      printed = "";
      child = Bun.spawn([...TOLLGATE, name], {
        cwd: folder,
        env: { PATH: process.env.PATH ?? "", ...environment },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      void read(child.stdout);
      void read(child.stderr);
      const deadline = performance.now() + START_MS;
      while (performance.now() < deadline && child.exitCode === null) {
        if (await isServing()) return;
        await Bun.sleep(20);
      }
      throw new Error(`tollgate ${name} does not serve: ${printed}`);
    },
    kill: async () => void (await end("SIGKILL")),
    stop: () => end("SIGTERM"),
    hasEnded: () => child?.exitCode !== null,
    output: () => printed,
  };
}

/** Runs a tollgate command and returns its stdout. Throws when it fails. */
export async function runCommand(
  args: readonly string[],
  { folder, environment }: Pick<ProgramOptions, "folder" | "environment">,
): Promise<string> {
  const env = { PATH: process.env.PATH ?? "", ...environment };
  const { exitCode, stdout, stderr } = await runProgram([...TOLLGATE, ...args], { cwd: folder, env });
  if (exitCode !== 0) throw new Error(`tollgate ${args.join(" ")} failed: ${stdout}${stderr}`);
  return stdout;
}
