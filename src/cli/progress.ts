import type { LongWork } from "../domain/long-work.ts";
import { CommandError } from "./command.ts";

/** Where progress is printed: a terminal shows one line that changes, everything else a line every 10 s. */
interface ProgressOutput {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

interface ProgressOptions {
  /** Prints nothing unless a person reads along on a terminal. */
  readonly json?: boolean | undefined;
  readonly output?: ProgressOutput;
  /** Milliseconds of a monotonic clock. */
  readonly clock?: () => number;
}

type Progress = Pick<LongWork, "step" | "at"> & { end(): void };

const REDRAW_MS = 100;
const LINE_MS = 10_000;
const CLEAR_LINE = "\r\u001b[K";

/** Creates the progress of a command: name of the step, share, rate and time left. */
export function createProgress(options: ProgressOptions = {}): Progress {
  const { json, output = process.stderr, clock = () => performance.now() } = options;
  const isTerminal = output.isTTY === true;
  let step = { name: "", total: 0, unit: "bytes", startedAt: 0 };
  let printedAt = -Infinity;

  const print = (done: number) => {
    const line = formatProgress({ ...step, done, elapsedMs: clock() - step.startedAt });
    output.write(isTerminal ? `${CLEAR_LINE}${line}` : `${line}\n`);
    printedAt = clock();
  };
  return {
    step(name, total, unit) {
      step = { name, total, unit, startedAt: clock() };
      if (isTerminal) print(0);
      else printedAt = clock();
    },
    at(done) {
      const isDue = clock() - printedAt >= (isTerminal ? REDRAW_MS : LINE_MS);
      if (isDue && (isTerminal || !json)) print(done);
    },
    end() {
      if (isTerminal) output.write(CLEAR_LINE);
    },
  };
}

interface ProgressState {
  readonly name: string;
  readonly done: number;
  readonly total: number;
  readonly unit: string;
  readonly elapsedMs: number;
}

/** Returns one line, such as "copy the database: 45 %, 120 MB of 266 MB, 12 MB/s, 12 s left". */
function formatProgress({ name, done, total, unit, elapsedMs }: ProgressState): string {
  if (total <= 0) return name;
  const percent = Math.floor((Math.min(done, total) / total) * 100);
  const parts = [`${percent} %`, `${formatAmount(done, unit)} of ${formatAmount(total, unit)}`];
  const perSecond = elapsedMs > 0 ? (done / elapsedMs) * 1_000 : 0;
  if (perSecond > 0) {
    parts.push(`${formatAmount(perSecond, unit)}/s`, `${formatTime((total - done) / perSecond)} left`);
  }
  return `${name}: ${parts.join(", ")}`;
}

function formatAmount(amount: number, unit: string): string {
  if (unit !== "bytes")
    return amount >= 10 || Number.isInteger(amount)
      ? `${Math.round(amount)} ${unit}`
      : `${amount.toFixed(1)} ${unit}`;
  const megabytes = amount / 1_000_000;
  return `${megabytes >= 10 ? Math.round(megabytes) : megabytes.toFixed(1)} MB`;
}

function formatTime(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  return whole < 120 ? `${whole} s` : `${Math.ceil(whole / 60)} min`;
}

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Runs long work with progress. On Ctrl-C or SIGTERM its signal aborts; the work must clean up and reject. Exit
 * codes are 130 and 143. A second Ctrl-C ends the process at once.
 */
export async function runLongWork<Result>(
  options: ProgressOptions,
  work: (work: LongWork) => Promise<Result>,
): Promise<Result> {
  const progress = createProgress(options);
  const stopping = new AbortController();
  const listeners = (["SIGINT", "SIGTERM"] as const).map((name) => {
    const stop = () =>
      stopping.abort(new CommandError("Interrupted: nothing was changed.", EXIT_CODES[name]));
    process.once(name, stop);
    return () => process.off(name, stop);
  });
  try {
    return await work({ step: progress.step, at: progress.at, signal: stopping.signal });
  } catch (thrown) {
    throw stopping.signal.aborted ? stopping.signal.reason : thrown;
  } finally {
    for (const remove of listeners) remove();
    progress.end();
  }
}
