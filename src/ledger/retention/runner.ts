import type { RetentionPolicy } from "./boundary.ts";
import type { RetentionStep } from "./job.ts";

export interface RetentionOptions {
  readonly ledger: { retain(policy: RetentionPolicy): Promise<RetentionStep> };
  readonly policy: RetentionPolicy;
  /** Milliseconds between two looks for old receipts. Default: 60,000, jittered by ±20 %. */
  readonly everyMs?: number;
  /** Called after each run that dropped receipts or returned space, and when a run was stopped. */
  readonly onRun: (run: Omit<RetentionStep, "isMore">) => void;
  /** Called with the error of a failed step. The next look is scheduled nevertheless. */
  readonly onError: (error: unknown) => void;
}

/** The most receipts between two reports of a long run. */
const REPORT_RECEIPTS = 1_000_000;

/** Drops old receipts in the background. `stop` resolves when a running step is over. */
export function startRetention({ ledger, policy, everyMs = 60_000, onRun, onError }: RetentionOptions): {
  stop(): Promise<void>;
} {
  let isStopped = false;
  let running = Promise.resolve();
  let timer: Timer;

  const work = async () => {
    let receipts = 0;
    while (!isStopped) {
      const { isMore, ...step } = await ledger.retain(policy);
      receipts += step.receipts;
      const isReported = !isMore || receipts >= REPORT_RECEIPTS;
      if (isReported && (receipts > 0 || step.bytes > 0 || step.stopped)) onRun({ ...step, receipts });
      if (isReported) receipts = 0;
      if (!isMore) return;
    }
  };
  const schedule = (pauseMs: number) => {
    timer = setTimeout(() => {
      running = work()
        .catch(onError)
        .then(() => {
          if (!isStopped) schedule(everyMs * (0.8 + Math.random() * 0.4));
        });
    }, pauseMs);
  };

  schedule(everyMs * Math.random() * 0.2);
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
      return running;
    },
  };
}
