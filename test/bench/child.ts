/** A process of the benchmark that was started and listens. */
export interface Child {
  readonly pid: number;
  readonly url: string;
  stop(): Promise<void>;
}

const START_MS_MAX = 10_000;

// Bun reads it only at the start of a process and caps at 256 calls otherwise.
const ENVIRONMENT = { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "65535" };

/** Starts a script of this folder that says `{ port }` once it listens on loopback. */
export async function startChild(script: string, args: readonly string[] = []): Promise<Child> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const child = Bun.spawn(["bun", `${import.meta.dir}/${script}`, ...args], {
    env: ENVIRONMENT,
    stdout: "inherit",
    stderr: "inherit",
    ipc: ({ port }) => resolve(port),
    onExit: () => reject(new Error(`${script} ended before it listened`)),
  });
  const tooLate = setTimeout(() => reject(new Error(`${script} does not listen`)), START_MS_MAX);
  const port = await promise.finally(() => clearTimeout(tooLate));
  return {
    pid: child.pid,
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}
