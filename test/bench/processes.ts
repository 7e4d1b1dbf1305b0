/** A child process that listens on a port. */
export interface Child {
  readonly pid: number;
  readonly url: string;
  stop(): Promise<void>;
}

const START_MS_MAX = 10_000;

// Bun reads the variable only at process start, and otherwise limits concurrent fetch calls to 256.
const ENVIRONMENT = { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "65535" };

/** Starts a script of this folder that sends `{ port }` once it listens. */
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

/** A child process that performs one job at a time and answers each with one message. */
export interface JobProcess<Job> {
  /** Rejects when the job fails or the process ends. */
  perform(job: Job): Promise<unknown>;
  stop(): Promise<void>;
}

interface JobMessage {
  readonly result?: unknown;
  readonly failure?: string;
}

/** Starts a script of this folder that calls {@link answerJobs}. */
export function startJobProcess<Job>(
  script: string,
  {
    args = [],
    environment = process.env,
  }: { args?: readonly string[]; environment?: NodeJS.ProcessEnv } = {},
): JobProcess<Job> {
  let answer = Promise.withResolvers<unknown>();
  const child = Bun.spawn(["bun", `${import.meta.dir}/${script}`, ...args], {
    env: environment,
    stdout: "inherit",
    stderr: "inherit",
    ipc({ result, failure }: JobMessage) {
      if (failure === undefined) answer.resolve(result);
      else answer.reject(new Error(`${script} failed: ${failure}`));
    },
    onExit: () => answer.reject(new Error(`${script} ended`)),
  });
  // A process may end while it has no job.
  answer.promise.catch(() => {});
  return {
    perform(job) {
      answer = Promise.withResolvers();
      child.send(job);
      return answer.promise;
    },
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}

/** Performs the jobs of the parent process. Ends with the parent. */
export function answerJobs<Job>(perform: (job: Job) => Promise<unknown>): void {
  process.once("disconnect", () => process.exit());
  process.on("message", (job: Job) => {
    perform(job).then(
      (result) => process.send?.({ result }),
      (error: Error) => process.send?.({ failure: error.message }),
    );
  });
}
