import { resolve } from "node:path";

const REPOSITORY = resolve(import.meta.dir, "../..");
const ENTRY = resolve(REPOSITORY, "src/cli/tollgate.ts");
const START_MS = 8_000;

/** A gateway as an operator runs it: a process of its own, seen only from outside. */
export interface ServedProcess {
  readonly url: string;
  readonly pid: number;
  /** Everything printed so far. */
  stdout(): string;
  stderr(): string;
  signal(name: "SIGTERM" | "SIGKILL"): void;
  /** Resolves when both streams are read to their end. */
  readonly exitCode: Promise<number>;
}

export interface ServeOptions {
  /** The working directory, below which the database is created. */
  readonly folder: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Starts through the script of package.json, in the repository, instead of the entry file. */
  readonly throughScript?: boolean;
}

/** Starts the gateway on a free port and waits until it is ready. Throws with its last words if it is not. */
export async function serveProcess({
  folder,
  environment,
  throughScript,
}: ServeOptions): Promise<ServedProcess> {
  const command = throughScript ? ["run", "--silent", "tollgate"] : [ENTRY];
  const child = Bun.spawn([process.execPath, ...command, "serve"], {
    cwd: throughScript ? REPOSITORY : folder,
    env: { PATH: process.env.PATH ?? "", PORT: "0", ...environment },
    stdout: "pipe",
    stderr: "pipe",
    // A group of its own, so that a signal reaches the gateway behind a script runner too.
    detached: true,
  });
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  const url = await untilListening(stdout, stderr);
  return {
    url,
    pid: child.pid,
    stdout: () => stdout.text,
    stderr: () => stderr.text,
    signal: (name) => void signalGroup(child.pid, name),
    exitCode: child.exited.then(async (code) => {
      await Promise.all([stdout.ended, stderr.ended]);
      return code;
    }),
  };
}

/** Reaches nobody when all of the group has ended. */
function signalGroup(pid: number, name: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(-pid, name);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

interface Collected {
  text: string;
  readonly ended: Promise<void>;
}

function collect(stream: ReadableStream<Uint8Array>): Collected {
  const collected = { text: "", ended: Promise.resolve() };
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) collected.text += decoder.decode(chunk, { stream: true });
  };
  collected.ended = read();
  return collected;
}

async function untilListening(stdout: Collected, stderr: Collected): Promise<string> {
  const deadline = performance.now() + START_MS;
  while (performance.now() < deadline) {
    const url = /"url":"(http:[^"]+)"/.exec(stdout.text)?.[1];
    const isReady = url && (await fetch(`${url}/readyz`).catch(() => undefined))?.ok;
    if (isReady) return url;
    await Bun.sleep(20);
  }
  throw new Error(`The gateway did not start: ${stdout.text}${stderr.text}`);
}
