import type { Batcher } from "./batcher.ts";
import type { Store } from "./store.ts";

const DUE_MAX = 500;

/**
 * Expires the holds whose time is up, through the queue like every other command; each is looked at
 * again under the lock, so several sweepers do no harm. Returns how many were due, at most 500.
 */
export async function expireDue(store: Store, submit: Batcher["submit"]): Promise<number> {
  const due = await store.findDue(DUE_MAX);
  await Promise.all(due.map((request) => submit("expire", request)));
  return due.length;
}

export interface SweeperOptions {
  readonly ledger: { sweep(): Promise<number> };
  /** Default 5,000; the first pause is at most a fifth of it, the others differ by as much: replicas spread. */
  readonly everyMs?: number;
  /** Told of a sweep that failed; the next one comes all the same. */
  readonly onError: (error: unknown) => void;
}

/**
 * Sweeps soon, for a process that was killed before has left holds, then again and again. `stop` ends it and
 * waits for a sweep that is running.
 */
export function startSweeper({ ledger, everyMs = 5_000, onError }: SweeperOptions): {
  stop(): Promise<void>;
} {
  let isStopped = false;
  let running = Promise.resolve();
  let timer: Timer;

  const sweepAll = async () => {
    // A full sweep means that more is due.
    while (!isStopped && (await ledger.sweep()) === DUE_MAX);
  };
  const schedule = (pauseMs: number) => {
    timer = setTimeout(() => {
      running = sweepAll()
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
