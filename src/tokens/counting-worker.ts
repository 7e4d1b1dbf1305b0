import { keepWorker } from "./kept-worker.ts";

export interface CountingWorkerOptions {
  /** The worker's script. */
  readonly script: URL;
  /** How long the worker may load its tables before another one is started. */
  readonly startMsMax: number;
  /** How long the worker may look at one text before it estimates the rest. */
  readonly countMsMax: number;
  /** How long a count may take while somebody waits for it, the queue included, the worker's start not. */
  readonly answerMsMax: number;
  /** How long a count may take that nobody waits for. */
  readonly patientMsMax: number;
  readonly queueMax: number;
}

/** Counts texts one after another in a worker that is kept. */
export interface CountingWorker {
  /** Starts the worker before the first text comes. */
  start(): void;
  /**
   * Returns the tokens of a text, or `undefined` when the worker cannot count it in time. Texts that somebody
   * waits for go first. Never rejects.
   */
  ask(text: string, isPatient: boolean): Promise<number | undefined>;
  /** From now on somebody waits for every text. */
  hurry(): void;
  /** Ends the worker; open questions are answered with `undefined`. */
  stop(): void;
}

interface Question {
  readonly text: string;
  /** Whether nobody waits for it. */
  isPatient: boolean;
  readonly answer: (tokens: number | undefined) => void;
  /** Runs from when the worker was ready. */
  timer: Timer | undefined;
}

// The worker watches its own time; only one that hangs or is starved of the processor takes longer.
const WATCHDOG_FACTOR = 4;

export function createCountingWorker(options: CountingWorkerOptions): CountingWorker {
  const { countMsMax, queueMax } = options;
  const queue: Question[] = [];
  let asked: Question | undefined;
  let isHurried = false;
  const worker = keepWorker({
    ...options,
    answerMsMax: countMsMax * WATCHDOG_FACTOR,
    onReady() {
      for (const question of queue) if (!question.timer) startClock(question, options);
      next();
    },
    onAnswer(tokens) {
      endAsked(tokens);
      next();
    },
    onDeath(isRestarting) {
      endAsked(undefined);
      if (!isRestarting) giveUpQueue();
    },
  });

  function next(): void {
    if (asked || !worker.isReady) return;
    asked = queue.shift();
    if (asked) worker.send({ text: asked.text, msMax: countMsMax });
  }

  function endAsked(tokens: number | undefined): void {
    const question = asked;
    asked = undefined;
    if (question) end(question, tokens);
  }

  function giveUpQueue(): void {
    for (const question of queue.splice(0)) end(question, undefined);
  }

  return {
    start: worker.start,
    ask(text, isPatient) {
      if (!worker.start() || queue.length >= queueMax) return Promise.resolve(undefined);
      const { promise, resolve } = Promise.withResolvers<number | undefined>();
      const question = { text, isPatient: isPatient && !isHurried, answer: resolve, timer: undefined };
      enqueue(queue, question);
      if (worker.isReady || isHurried) startClock(question, options);
      next();
      return promise.finally(() => remove(queue, question));
    },
    hurry() {
      isHurried = true;
      for (const question of asked ? [asked, ...queue] : queue) {
        if (!question.isPatient && question.timer) continue;
        question.isPatient = false;
        startClock(question, options);
      }
    },
    stop() {
      worker.stop();
      giveUpQueue();
      endAsked(undefined);
    },
  };
}

/** Before the texts that nobody waits for, behind all others. */
function enqueue(queue: Question[], question: Question): void {
  const position = question.isPatient ? -1 : queue.findIndex(({ isPatient }) => isPatient);
  queue.splice(position < 0 ? queue.length : position, 0, question);
}

function remove(queue: Question[], question: Question): void {
  const position = queue.indexOf(question);
  if (position >= 0) queue.splice(position, 1);
}

function startClock(question: Question, { answerMsMax, patientMsMax }: CountingWorkerOptions): void {
  clearTimeout(question.timer);
  const msMax = question.isPatient ? patientMsMax : answerMsMax;
  question.timer = setTimeout(() => question.answer(undefined), msMax);
}

function end(question: Question, tokens: number | undefined): void {
  clearTimeout(question.timer);
  question.answer(tokens);
}
