import { createFairQueue } from "../workers/fair-queue.ts";

/** Work of so many milliseconds is done in one turn of the event loop, however many want some done. */
const TURN_MS_MAX = 10;
/** After a piece that took longer, so many turns at most belong to the others: to answer one request takes several. */
const FREE_TURNS_MAX = 8;

/** Lets the work of many requests share the event loop with everything else that waits for it. */
export interface CooperativeYield {
  /**
   * Does a piece of work: at once while there is time left, else in a later turn of the loop, owners in turns.
   * Throws, or rejects, with what the piece throws.
   */
  run<Result>(owner: string, piece: () => Result): Result | Promise<Result>;
}

/** Time is counted over turns, too: work that fills 10 ms costs the next piece one turn, which is short on an idle loop. */
export function createCooperativeYield(): CooperativeYield {
  const waiting = createFairQueue<() => void>();
  let workedMs = 0;
  let isNextTurnAsked = false;

  function work<Result>(piece: () => Result): Result {
    const startedAt = performance.now();
    try {
      return piece();
    } finally {
      workedMs += performance.now() - startedAt;
      if (workedMs >= TURN_MS_MAX) askForTurn();
    }
  }
  function askForTurn(): void {
    if (isNextTurnAsked) return;
    isNextTurnAsked = true;
    passTurns(Math.min(Math.floor(workedMs / TURN_MS_MAX), FREE_TURNS_MAX));
  }
  function passTurns(left: number): void {
    setImmediate(() => (left > 1 ? passTurns(left - 1) : takeTurn()));
  }
  function takeTurn(): void {
    isNextTurnAsked = false;
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
      askForTurn();
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
