import { Worker } from "node:worker_threads";
import { createFairQueue } from "./fair-queue.ts";
import type { Job, JobResult } from "../bodies/body-jobs.ts";

export interface WorkerQueueOptions {
  /** The worker's script. */
  readonly script: URL;
  /** How long one job may take, the worker's start included, before the worker is taken to hang. */
  readonly jobMsMax: number;
  /** How long the worker is kept without a job. */
  readonly idleMs: number;
}

/** Gives jobs to a worker one after another, owners in turns. The worker lives only while it is needed. */
export interface WorkerQueue {
  /** The job's buffers are the worker's from its turn on. Rejects when the worker dies or hangs over this very job. */
  run(owner: string, job: Job): Promise<JobResult>;
  /** Ends the worker; every job that is not done rejects. */
  close(): void;
}

interface Entry {
  readonly job: Job;
  resolve(result: JobResult): void;
  reject(reason: Error): void;
}

export function createWorkerQueue({ script, jobMsMax, idleMs }: WorkerQueueOptions): WorkerQueue {
  const queue = createFairQueue<Entry>();
  let worker: Worker | undefined;
  let running: Entry | undefined;
  let timer: Timer | undefined;
  let isClosed = false;

  function next(): void {
    if (running) return;
    running = queue.shift();
    if (!running) {
      restartTimer(end, idleMs);
      return;
    }
    worker ??= start();
    restartTimer(() => fail("The body worker hangs"), jobMsMax);
    try {
      worker.postMessage(running.job, buffersOf(running.job));
    } catch (fault) {
      fail("A job cannot be sent", { cause: fault });
    }
  }

  function start(): Worker {
    const started = new Worker(script);
    const onEnd = () => worker === started && fail("The body worker ended");
    started.unref();
    started.on("message", (result: JobResult) => worker === started && finish(result));
    started.on("error", onEnd);
    started.on("exit", onEnd);
    return started;
  }

  function finish(result: JobResult): void {
    const done = running;
    running = undefined;
    done?.resolve(result);
    next();
  }

  /** The job that it died or hangs over is lost, and the bytes with it; the others get another worker. */
  function fail(why: string, options?: ErrorOptions): void {
    const lost = running;
    running = undefined;
    end();
    lost?.reject(new Error(why, options));
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
    run(owner, job) {
      if (isClosed) return Promise.reject(new Error("The body worker is closed"));
      return new Promise((resolve, reject) => {
        queue.push(owner, { job, resolve, reject });
        next();
      });
    },
    close() {
      isClosed = true;
      const lost = running ? [running] : [];
      running = undefined;
      for (let entry = queue.shift(); entry; entry = queue.shift()) lost.push(entry);
      end();
      for (const { reject } of lost) reject(new Error("The body worker is closed"));
    },
  };
}

function buffersOf({ blocks }: Job): ArrayBuffer[] {
  return blocks.map(({ buffer }) => {
    if (!(buffer instanceof ArrayBuffer)) throw new Error("A block shares its memory");
    return buffer;
  });
}
