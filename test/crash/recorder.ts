import { fdatasync, openSync, writeSync } from "node:fs";
import { promisify } from "node:util";

/** Remembers on disk what was acknowledged to a client. */
export interface Witness {
  /** Resolves when the line is on disk. */
  note(line: string): Promise<void>;
  /** Every line that is on disk since the last call. */
  take(): readonly string[];
}

const syncData = promisify(fdatasync);

/** Lines that come while one sync runs share the next. */
export function openWitness(path: string): Witness {
  const file = openSync(path, "a");
  let safe: string[] = [];
  let waiting: string[] = [];
  let next: Promise<void> | undefined;
  let running: Promise<void> = Promise.resolve();

  const write = async () => {
    await running;
    const lines = waiting;
    waiting = [];
    next = undefined;
    writeSync(file, `${lines.join("\n")}\n`);
    running = syncData(file);
    await running;
    safe.push(...lines);
  };
  return {
    note(line) {
      waiting.push(line);
      next ??= write();
      return next;
    },
    take() {
      const taken = safe;
      safe = [];
      return taken;
    },
  };
}
