import { Worker } from "node:worker_threads";
import type { CountAnswer, CountQuestion } from "./count-worker.ts";

/** A worker thread that is kept for as long as the process runs: one that dies or hangs is replaced. */
export interface KeptWorker {
  readonly isReady: boolean;
  /** Starts it unless it runs. Returns false when it cannot be had now: it died more than once in a row. */
  start(): boolean;
  /** Asks it; must be called only while it is ready and has no other question. */
  send(question: CountQuestion): void;
  stop(): void;
}

export interface KeptWorkerOptions {
  readonly script: URL;
  readonly startMsMax: number;
  /** How long it may take for an answer. */
  readonly answerMsMax: number;
  onReady(): void;
  onAnswer(tokens: number): void;
  /** It died, with the question it had; `isRestarting` when another one is on its way already. */
  onDeath(isRestarting: boolean): void;
}

const PAUSE_MS_MIN = 1_000;
const PAUSE_MS_MAX = 60_000;

export function keepWorker(options: KeptWorkerOptions): KeptWorker {
  let worker: Worker | undefined;
  let isReady = false;
  /** Since the last answer. */
  let deaths = 0;
  let isPausing = false;
  let isStopped = false;
  /** Watches the start or an answer, or waits for the next start. */
  let timer: Timer | undefined;

  function start(): boolean {
    if (isPausing || isStopped) return false;
    if (worker) return true;
    const started = startWorker(options.script, {
      onAnswer: (answer) => worker === started && hear(answer),
      onEnd: () => worker === started && replace(),
    });
    worker = started;
    restartTimer(replace, options.startMsMax);
    return true;
  }

  function hear(answer: CountAnswer): void {
    clearTimeout(timer);
    if (answer === "ready") {
      isReady = true;
      options.onReady();
    } else {
      deaths = 0;
      options.onAnswer(answer);
    }
  }

  /** A worker that never got ready will hardly do better at once. */
  function replace(): void {
    deaths += 1;
    const isRestarting = isReady && deaths === 1;
    end();
    if (isRestarting) start();
    else pause();
    options.onDeath(isRestarting);
  }

  function pause(): void {
    isPausing = true;
    const resume = () => {
      isPausing = false;
      start();
    };
    restartTimer(resume, Math.min(PAUSE_MS_MIN * 2 ** (deaths - 1), PAUSE_MS_MAX));
  }

  function end(): void {
    clearTimeout(timer);
    void worker?.terminate();
    worker = undefined;
    isReady = false;
  }

  function restartTimer(act: () => void, ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(act, ms);
    timer.unref();
  }

  return {
    get isReady() {
      return isReady;
    },
    start,
    send(question) {
      worker?.postMessage(question);
      restartTimer(replace, options.answerMsMax);
    },
    stop() {
      isStopped = true;
      end();
    },
  };
}

interface WorkerEvents {
  readonly onAnswer: (answer: CountAnswer) => void;
  readonly onEnd: () => void;
}

function startWorker(script: URL, { onAnswer, onEnd }: WorkerEvents): Worker {
  const worker = new Worker(script);
  worker.unref();
  worker.on("message", onAnswer);
  worker.on("error", onEnd);
  worker.on("exit", onEnd);
  return worker;
}
