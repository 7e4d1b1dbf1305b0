import { startPasses } from "../../time.ts";

export interface RollUpsOptions {
  readonly ledger: { rollUp(): Promise<boolean> };
  /** Milliseconds between two looks for work. Default: 10,000, jittered by ±20 %. */
  readonly everyMs?: number;
  /** Called with the error of a failed step. The next look is scheduled nevertheless. */
  readonly onError: (error: unknown) => void;
}

/** The pause after a step, as a part of its duration: a first run over old receipts leaves room for requests. */
const REST = 0.5;

/**
 * Sums up usage in the background, step by step while there is work. `stop` resolves when a running step is
 * over.
 */
export function startRollUps({ ledger, everyMs = 10_000, onError }: RollUpsOptions): {
  stop(): Promise<void>;
} {
  const run = async (signal: AbortSignal) => {
    for (let isMore = true; isMore && !signal.aborted; ) {
      const beganAtMs = performance.now();
      isMore = await ledger.rollUp();
      if (isMore) await Bun.sleep((performance.now() - beganAtMs) * REST);
    }
  };
  return startPasses({ everyMs, run, onError });
}
