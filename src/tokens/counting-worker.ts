import { createWorkerQueue } from "../workers/worker-queue.ts";
import type { CountQuestion } from "./count-worker.ts";

export interface CountingWorkerOptions {
  readonly script: URL;
  /** Timeout of the worker's start, in which it loads its tables. */
  readonly startMsMax: number;
  /** Time after which the worker estimates the rest of a text. */
  readonly countMsMax: number;
  /** Timeout of a count that a request waits for, queue included, worker's start excluded. */
  readonly answerMsMax: number;
  /** Timeout of a count that no request waits for. */
  readonly patientMsMax: number;
  readonly queueMax: number;
}

/** Counts texts one after another in a worker that the first text starts, and that is kept ready. */
export interface CountingWorker {
  /**
   * Returns the tokens of a text, or `undefined` when the worker cannot count it in time. A text with
   * `isPatient`, for which no request waits, is counted after all others. Never rejects.
   */
  count(text: string, isPatient: boolean): Promise<number | undefined>;
  /** Treats every text from now on as one that a request waits for. */
  hurry(): void;
  /** Ends the worker. Pending counts resolve with `undefined`. */
  close(): void;
}

interface PendingCount {
  readonly text: string;
  isPatient: boolean;
  readonly resolve: (tokens: number | undefined) => void;
  /** Runs from when the worker is ready. */
  timer: Timer | undefined;
}

export function createCountingWorker(options: CountingWorkerOptions): CountingWorker {
  const { queueMax } = options;
  const queue: PendingCount[] = [];
  let running: PendingCount | undefined;
  let isHurried = false;
  const worker = createReadyWorker(options, {
    onReady() {
      for (const count of queue) if (!count.timer) startTimer(count, options);
      next();
    },
    onBackoff: giveUpQueue,
  });

  function next(): void {
    if (running || !worker.isReady) return;
    running = queue.shift();
    if (running) void worker.count(running.text).then(endRunning);
  }

  function endRunning(tokens: number | undefined): void {
    const count = running;
    running = undefined;
    if (count) end(count, tokens);
    next();
  }

  function giveUpQueue(): void {
    for (const count of queue.splice(0)) end(count, undefined);
  }

  return {
    count(text, isPatient) {
      if (!worker.start() || queue.length >= queueMax) return Promise.resolve(undefined);
      const { promise, resolve } = Promise.withResolvers<number | undefined>();
      const count = { text, isPatient: isPatient && !isHurried, resolve, timer: undefined };
      enqueue(queue, count);
      if (worker.isReady || isHurried) startTimer(count, options);
      next();
      return promise.finally(() => remove(queue, count));
    },
    hurry() {
      isHurried = true;
      for (const count of running ? [running, ...queue] : queue) {
        if (!count.isPatient && count.timer) continue;
        count.isPatient = false;
        startTimer(count, options);
      }
    },
    close() {
      worker.close();
      giveUpQueue();
    },
  };
}

/** Inserts a patient text last, and any other before the patient ones. */
function enqueue(queue: PendingCount[], count: PendingCount): void {
  const position = count.isPatient ? -1 : queue.findIndex(({ isPatient }) => isPatient);
  queue.splice(position < 0 ? queue.length : position, 0, count);
}

function remove(queue: PendingCount[], count: PendingCount): void {
  const position = queue.indexOf(count);
  if (position >= 0) queue.splice(position, 1);
}

function startTimer(count: PendingCount, { answerMsMax, patientMsMax }: CountingWorkerOptions): void {
  clearTimeout(count.timer);
  const msMax = count.isPatient ? patientMsMax : answerMsMax;
  count.timer = setTimeout(() => count.resolve(undefined), msMax);
}

function end(count: PendingCount, tokens: number | undefined): void {
  clearTimeout(count.timer);
  count.resolve(tokens);
}

/** The worker keeps its own time limit. Only a worker that hangs or lacks processor time takes longer. */
const HANG_FACTOR = 4;
const BACKOFF_MIN_MS = 1_000;
const BACKOFF_MAX_MS = 60_000;
/** A first question, whose answer shows that the tables are loaded. */
const WARM_UP: CountQuestion = { text: "", msMax: 0 };
/** All questions have one owner: the queue of counts decides their order. */
const OWNER = "";

/** A worker that loads its tables before the first count, and again after it dies or hangs. */
interface ReadyWorker {
  /** Whether the tables are loaded. */
  readonly isReady: boolean;
  /** Starts the worker unless it runs. Returns false while it is closed, or in backoff after failures. */
  start(): boolean;
  /** Resolves with `undefined` when the worker dies or hangs during this count. */
  count(text: string): Promise<number | undefined>;
  /** Pending counts resolve with `undefined`. */
  close(): void;
}

interface ReadyWorkerEvents {
  readonly onReady: () => void;
  /** The worker failed twice in a row, or could not start. */
  readonly onBackoff: () => void;
}

function createReadyWorker(
  { script, startMsMax, countMsMax }: CountingWorkerOptions,
  { onReady, onBackoff }: ReadyWorkerEvents,
): ReadyWorker {
  let state: "idle" | "starting" | "ready" | "backoff" | "closed" = "idle";
  /** Failures since the last count. */
  let failures = 0;
  let backoff: Timer | undefined;
  const worker = createWorkerQueue<CountQuestion, number>({
    name: "counting worker",
    script,
    jobMsMax: countMsMax * HANG_FACTOR,
    onFailure: restart,
  });

  function warmUp(): void {
    state = "starting";
    const becomeReady = () => {
      if (state !== "starting") return;
      state = "ready";
      onReady();
    };
    worker.run(OWNER, WARM_UP, startMsMax).then(becomeReady, () => undefined);
  }

  /** Restarts at once after a single failure of a ready worker, else after a backoff. */
  function restart(): void {
    failures += 1;
    if (state === "ready" && failures === 1) {
      warmUp();
      return;
    }
    state = "backoff";
    backoff = setTimeout(warmUp, Math.min(BACKOFF_MIN_MS * 2 ** (failures - 1), BACKOFF_MAX_MS));
    backoff.unref();
    onBackoff();
  }

  return {
    get isReady() {
      return state === "ready";
    },
    start() {
      if (state === "idle") warmUp();
      return state !== "backoff" && state !== "closed";
    },
    async count(text) {
      try {
        const tokens = await worker.run(OWNER, { text, msMax: countMsMax });
        failures = 0;
        return tokens;
      } catch {
        return undefined;
      }
    },
    close() {
      state = "closed";
      clearTimeout(backoff);
      worker.close();
    },
  };
}
