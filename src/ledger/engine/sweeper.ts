import { startPasses } from "../../time.ts";
import type { Batcher } from "./batcher.ts";
import type { Store } from "./store.ts";

const DUE_MAX = 500;

/**
 * Expires holds that are past their time, at most 500, and returns how many were due. The commands go through
 * the queue and are decided under the lock, so several sweepers may run at once.
 */
export async function sweepOnce(store: Store, submit: Batcher["submit"]): Promise<number> {
  const due = await store.findDue(DUE_MAX);
  await Promise.all(due.map((request) => submit("expire", request)));
  return due.length;
}

export interface SweeperOptions {
  readonly ledger: { sweep(): Promise<number> };
  /** Default 5,000, jittered by ±20 % so that replicas spread. The first pause is at most a fifth of it. */
  readonly everyMs?: number;
  /** Called with the error of a failed sweep. The next sweep is scheduled nevertheless. */
  readonly onError: (error: unknown) => void;
}

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
