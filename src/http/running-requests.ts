/** Counts model requests that are not settled yet, so that a shutdown can wait for them. */
export interface RunningRequests {
  begin(): void;
  end(): void;
  /** Resolves when no request is running. */
  idle(): Promise<void>;
}

export function createRunningRequests(): RunningRequests {
  let count = 0;
  let waiting: (() => void)[] = [];
  return {
    begin: () => {
      count += 1;
    },
    end: () => {
      count -= 1;
      if (count > 0) return;
      for (const resolve of waiting) resolve();
      waiting = [];
    },
    idle: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}
