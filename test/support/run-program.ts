/** What a program has printed, and how it ended. */
export interface RanProgram {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  readonly cwd?: string;
  /** Default: that of this process. */
  readonly env?: Record<string, string | undefined>;
  /** Text on stdin. Default: none. */
  readonly input?: string;
}

/** Runs a program to its end. */
export async function runProgram(
  command: readonly string[],
  { input, ...options }: RunOptions = {},
): Promise<RanProgram> {
  const stdin = input === undefined ? "ignore" : Buffer.from(input);
  const child = Bun.spawn([...command], { ...options, stdin, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exitCode, stdout, stderr };
}
