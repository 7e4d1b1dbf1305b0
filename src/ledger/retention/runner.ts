import { startPasses } from "../../time.ts";
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

/** Drops old receipts in the background. After `stop`, a running step ends when the ledger is closed. */
export function startRetention({ ledger, policy, everyMs = 60_000, onRun, onError }: RetentionOptions): {
  stop(): void;
} {
  const run = async (signal: AbortSignal) => {
    let [receipts, bytes] = [0, 0];
    while (!signal.aborted) {
      const { isMore, ...step } = await ledger.retain(policy);
      receipts += step.receipts;
      bytes += step.bytes;
      // Reported before space is returned to the disk, which may take long.
      const isOver = step.receipts === 0 && receipts > 0;
      if (isMore && !isOver && receipts < REPORT_RECEIPTS) continue;
      if (receipts > 0 || bytes > 0 || step.stopped) onRun({ ...step, receipts, bytes });
      [receipts, bytes] = [0, 0];
      if (!isMore) return;
    }
  };
  const passes = startPasses({
    everyMs,
    beginsSoon: true,
    run: (signal) =>
      run(signal).catch((error) => {
        // The ledger that is closed ends the step with an error.
        if (!signal.aborted) onError(error);
      }),
    onError,
  });
  return { stop: () => void passes.stop() };
}
