import { fdatasync, openSync, writeSync } from "node:fs";
import { promisify } from "node:util";

/** Records on disk what was acknowledged to a client. */
export interface Recorder {
  /** Resolves when the line is on disk. */
  record(line: string): Promise<void>;
  /** Returns the lines that reached the disk since the last call. */
  take(): readonly string[];
}

const syncData = promisify(fdatasync);

/** Opens a recorder. Lines recorded during a sync share the next one. */
export function openRecorder(path: string): Recorder {
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
    record(line) {
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
