/** A process of the benchmark that does one job at a time and answers each with one message. */
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
  // A process that ends while it has no job is nobody's failure.
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

/** The other end, in the process itself: it ends with the one that started it. */
export function answerJobs<Job>(perform: (job: Job) => Promise<unknown>): void {
  process.once("disconnect", () => process.exit());
  process.on("message", (job: Job) => {
    perform(job).then(
      (result) => process.send?.({ result }),
      (error: Error) => process.send?.({ failure: error.message }),
    );
  });
}
