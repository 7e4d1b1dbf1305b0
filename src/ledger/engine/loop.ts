/** Runs one step after the other while there is something to do. */
export interface Loop {
  /** Says that there may be something to do. */
  wake(): void;
  /** Resolves when there is nothing left to do. */
  atRest(): Promise<void>;
}

export interface LoopParts {
  hasWork(): boolean;
  /** Returns how many milliseconds to wait before the next step; 0 for the event loop's next turn. Never rejects. */
  step(): Promise<number>;
}

/** A step waits for the end of the event loop's turn, so that it sees everything that the turn brought. */
export function createLoop({ hasWork, step }: LoopParts): Loop {
  let isRunning = false;
  let resting: PromiseWithResolvers<void> | undefined;

  const run = async () => {
    const pauseMs = await step();
    if (!hasWork()) {
      isRunning = false;
      resting?.resolve();
    } else if (pauseMs > 0) setTimeout(run, pauseMs);
    else setImmediate(run);
  };

  return {
    wake() {
      if (isRunning || !hasWork()) return;
      isRunning = true;
      setImmediate(run);
    },
    atRest() {
      if (!isRunning) return Promise.resolve();
      resting ??= Promise.withResolvers();
      return resting.promise;
    },
  };
}
