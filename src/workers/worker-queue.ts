import type { Worker } from "node:worker_threads";
import { createFairQueue } from "./fair-queue.ts";
import { startWorker } from "./start-worker.ts";

export interface WorkerQueueOptions<Job> {
  /** Name of the worker in errors, such as "body worker". */
  readonly name: string;
  /** The worker's script. It must post one result for each message, in order. */
  readonly script: URL;
  /** Timeout of a job, the worker's start included. The worker is then terminated. */
  readonly jobMsMax: number;
  /** Time until a worker without a job is terminated. Default: it is kept until `close`. */
  readonly idleMs?: number;
  /** Returns the buffers of a job that are transferred instead of copied. */
  readonly buffersOf?: (job: Job) => ArrayBuffer[];
  /** Called when the worker died or hung, also without a job, before the job it ran rejects. */
  readonly onFailure?: () => void;
}

/**
 * Runs jobs one after another in a worker thread, owners in turn. The thread is started for the first job,
 * replaced when it dies or hangs, and never keeps the process alive.
 */
export interface WorkerQueue<Job, Result> {
  /**
   * Resolves with the job's result. Rejects when the worker dies or hangs during this job; other jobs are not
   * affected. Transferred buffers are lost then. `msMax` replaces the queue's timeout.
   */
  run(owner: string, job: Job, msMax?: number): Promise<Result>;
  /** Terminates the worker. Every unfinished job rejects. */
  close(): void;
}

interface Entry<Job, Result> {
  readonly job: Job;
  readonly msMax: number;
  resolve(result: Result): void;
  reject(reason: Error): void;
}

export function createWorkerQueue<Job, Result>(options: WorkerQueueOptions<Job>): WorkerQueue<Job, Result> {
  const { name, script, jobMsMax, idleMs, buffersOf = () => [], onFailure } = options;
  const queue = createFairQueue<Entry<Job, Result>>();
  let worker: Worker | undefined;
  let running: Entry<Job, Result> | undefined;
  /** Watches the running job, or the time without one. */
  let timer: Timer | undefined;
  let isClosed = false;

  function next(): void {
    if (running) return;
    clearTimeout(timer);
    running = queue.shift();
    if (!running) {
      if (worker && idleMs !== undefined) restartTimer(end, idleMs);
      return;
    }
    restartTimer(() => fail(`The ${name} hangs`), running.msMax);
    try {
      worker ??= start();
      worker.postMessage(running.job, buffersOf(running.job));
    } catch (cause) {
      fail(`A job of the ${name} cannot be sent`, { cause });
    }
  }

  function start(): Worker {
    const started = startWorker(script);
    const onEnd = (cause?: unknown) => worker === started && fail(`The ${name} ended`, { cause });
    started.unref();
    started.on("message", (result: Result) => worker === started && finish(result));
    started.on("error", onEnd);
    started.on("exit", () => onEnd());
    return started;
  }

  function finish(result: Result): void {
    const done = running;
    running = undefined;
    done?.resolve(result);
    next();
  }

  function fail(message: string, options?: ErrorOptions): void {
    const lost = running;
    running = undefined;
    end();
    onFailure?.();
    lost?.reject(new Error(message, options));
    next();
  }

  function end(): void {
    clearTimeout(timer);
    const ended = worker;
    worker = undefined;
    void ended?.terminate();
  }

  function restartTimer(act: () => void, ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(act, ms);
    timer.unref();
  }

  return {
    run(owner, job, msMax = jobMsMax) {
      if (isClosed) return Promise.reject(new Error(`The ${name} is closed`));
      return new Promise((resolve, reject) => {
        queue.push(owner, { job, msMax, resolve, reject });
        next();
      });
    },
    close() {
      isClosed = true;
      const lost = running ? [running] : [];
      running = undefined;
      for (let entry = queue.shift(); entry; entry = queue.shift()) lost.push(entry);
      end();
      for (const { reject } of lost) reject(new Error(`The ${name} is closed`));
    },
  };
}
