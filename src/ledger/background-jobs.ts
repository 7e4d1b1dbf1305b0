import { platform, startPasses } from "../platform.ts";
import type { RetentionPolicy, RetentionStep } from "./retention/job.ts";

/** What every background job of a local ledger takes. `Ledger` is the part of the ledger that it calls. */
interface JobOptions<Ledger> {
  readonly ledger: Ledger;
  /** Milliseconds between two looks for work, jittered by ±20 % so that replicas spread. */
  readonly everyMs?: number;
  /** Called with the error of a failed step. The next look is scheduled nevertheless. */
  readonly onError: (error: unknown) => void;
}

/** The most holds that one sweep expires. */
export const DUE_MAX = 500;

type SweeperOptions = JobOptions<{ sweep(): Promise<number> }>;

/**
 * Sweeps soon after the start, because a killed process may have left holds open, and then repeatedly. `stop`
 * resolves when a running sweep is over.
 */
export function startSweeper({ ledger, everyMs = 5_000, onError }: SweeperOptions): {
  stop(): Promise<void>;
} {
  const run = async (signal: AbortSignal) => {
    // A full sweep means that more holds are due.
    while (!signal.aborted && (await ledger.sweep()) === DUE_MAX);
  };
  return startPasses({ everyMs, beginsSoon: true, run, onError });
}

type RollUpsOptions = JobOptions<{ rollUp(signal: AbortSignal): Promise<boolean> }>;

/** The pause after a step, as a part of its duration: a first run over old receipts leaves room for requests. */
const REST = 0.5;
const REST_MS_MAX = 2_000;

/**
 * Sums up usage in the background, step by step while there is work. `stop` resolves when a running step is
 * over.
 */
export function startRollUps({ ledger, everyMs = 10_000, onError }: RollUpsOptions): {
  stop(): Promise<void>;
} {
  const run = async (signal: AbortSignal) => {
    for (let isMore = true; isMore && !signal.aborted; ) {
      const beganAtMs = platform.monotonicMs();
      isMore = await ledger.rollUp(signal);
      const restMs = Math.min((platform.monotonicMs() - beganAtMs) * REST, REST_MS_MAX);
      if (isMore) await platform.sleep(restMs);
    }
  };
  return startPasses({ everyMs, run, onError });
}

interface RetentionOptions extends JobOptions<{ retain(policy: RetentionPolicy): Promise<RetentionStep> }> {
  readonly policy: RetentionPolicy;
  /** Called after each run that dropped receipts or returned space, and when a run was stopped. */
  readonly onRun: (run: Omit<RetentionStep, "isMore">) => void;
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
