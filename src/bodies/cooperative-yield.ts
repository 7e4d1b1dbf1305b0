import { platform } from "../platform.ts";
import { createFairQueue } from "../workers/fair-queue.ts";

/** Work per event-loop turn, for all requests together. */
const TURN_MS_MAX = 10;
/** Most turns left to other work after a longer piece: answering one request takes several turns. */
const FREE_TURNS_MAX = 8;

/** Divides synchronous work of many requests over event-loop turns, so that it does not block other work. */
export interface CooperativeYield {
  /**
   * Runs a piece of work at once while the event-loop turn has time left, else in a later turn. Alternates
   * between owners. Throws, or rejects with, the error of the piece.
   */
  run<Result>(owner: string, piece: () => Result): Result | Promise<Result>;
}

/**
 * Time is accumulated over turns: 10 ms of work delay the next piece by one turn, which is short on an idle
 * loop. `clock` returns milliseconds.
 */
export function createCooperativeYield(clock = () => platform.monotonicMs()): CooperativeYield {
  const waiting = createFairQueue<() => void>();
  let workedMs = 0;
  let isTurnScheduled = false;

  function work<Result>(piece: () => Result): Result {
    const startedAt = clock();
    try {
      return piece();
    } finally {
      workedMs += clock() - startedAt;
      if (workedMs >= TURN_MS_MAX) scheduleTurn();
    }
  }
  function scheduleTurn(): void {
    if (isTurnScheduled) return;
    isTurnScheduled = true;
    passTurns(Math.min(Math.floor(workedMs / TURN_MS_MAX), FREE_TURNS_MAX));
  }
  function passTurns(left: number): void {
    platform.setImmediate(() => (left > 1 ? passTurns(left - 1) : runTurn()));
  }
  function runTurn(): void {
    isTurnScheduled = false;
    workedMs = 0;
    while (workedMs < TURN_MS_MAX) {
      const next = waiting.shift();
      if (!next) return;
      next();
    }
  }
  return {
    run(owner, piece) {
      if (workedMs < TURN_MS_MAX && waiting.size === 0) return work(piece);
      scheduleTurn();
      return new Promise((resolve, reject) => {
        waiting.push(owner, () => {
          try {
            resolve(work(piece));
          } catch (thrown) {
            reject(thrown);
          }
        });
      });
    },
  };
}
