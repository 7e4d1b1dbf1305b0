import { Worker } from "node:worker_threads";
import type { CountAnswer, CountQuestion } from "./count-worker.ts";

export interface CountingWorkerOptions {
  /** The worker's script. */
  readonly script: URL;
  /** How long the worker may look at one text before it estimates the rest. */
  readonly countMsMax: number;
  /** How long an answer may take, start and queue included. */
  readonly answerMsMax: number;
  /** How long the worker is kept without a question. */
  readonly idleMs: number;
  readonly queueMax: number;
}

/** Counts texts one after another in a worker that lives only while it is needed. */
export interface CountingWorker {
  /** Tokens of a text, or `undefined` when the worker cannot say in time. Never rejects. */
  ask(text: string): Promise<number | undefined>;
  /** Ends the worker; what was asked is answered with `undefined`. */
  stop(): void;
}

interface Question {
  readonly text: string;
  readonly answer: (tokens: number | undefined) => void;
}

// The worker watches its own time; only one that hangs or is starved of the processor takes longer.
const WATCHDOG_FACTOR = 4;
/** A worker that loads its tables slower than an answer may take is still worth waiting for: the next answers need it. */
const START_FACTOR = 10;

export function createCountingWorker(options: CountingWorkerOptions): CountingWorker {
  const queue: Question[] = [];
  let worker: Worker | undefined;
  let isReady = false;
  let asked: Question | undefined;
  let timer: Timer | undefined;

  function next(): void {
    if (asked || (worker && !isReady)) return;
    const question = queue[0];
    if (!question) restartTimer(end, options.idleMs);
    else if (worker) send(worker, question);
    else start();
  }

  function start(): void {
    const started = startWorker(options.script, {
      onAnswer: (answer) => worker === started && hear(answer),
      onEnd: () => worker === started && fail(),
    });
    worker = started;
    restartTimer(fail, options.answerMsMax * START_FACTOR);
  }

  function send(to: Worker, question: Question): void {
    queue.shift();
    asked = question;
    const sent: CountQuestion = { text: question.text, msMax: options.countMsMax };
    to.postMessage(sent);
    restartTimer(fail, options.countMsMax * WATCHDOG_FACTOR);
  }

  function hear(answer: CountAnswer): void {
    if (answer === "ready") isReady = true;
    else asked?.answer(answer);
    asked = undefined;
    next();
  }

  /** The worker died or hangs: its question is given up, and all of them when it never got ready. */
  function fail(): void {
    if (!isReady) giveUpQueue();
    end();
    next();
  }

  function giveUpQueue(): void {
    for (const question of queue.splice(0)) question.answer(undefined);
  }

  function end(): void {
    clearTimeout(timer);
    void worker?.terminate();
    worker = undefined;
    isReady = false;
    asked?.answer(undefined);
    asked = undefined;
  }

  function restartTimer(act: () => void, ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(act, ms);
    timer.unref();
  }

  return {
    ask(text) {
      if (queue.length >= options.queueMax) return Promise.resolve(undefined);
      const { promise, resolve } = Promise.withResolvers<number | undefined>();
      const question = { text, answer: resolve };
      const tooLate = setTimeout(() => {
        if (queue.includes(question)) queue.splice(queue.indexOf(question), 1);
        resolve(undefined);
      }, options.answerMsMax);
      queue.push(question);
      next();
      return promise.finally(() => clearTimeout(tooLate));
    },
    stop() {
      giveUpQueue();
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
