import { closeSync, constants, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "../support/temp-folder.ts";

/** What the child measured when it had written its lines. */
export interface Written {
  readonly written: number;
  readonly dropped: number;
  /** The longest delay of its event loop. */
  readonly longestMs: number;
  readonly seconds: number;
  readonly cpuUs: number;
}

/** A process that writes lines to its log. */
export interface LogProcess {
  /** Resolves when all lines are written. */
  readonly written: Promise<Written>;
  readonly exited: Promise<number>;
  /** Lets the process close its log and end. */
  close(): void;
  kill(signal: "SIGTERM" | "SIGKILL"): void;
}

/** Starts a process whose log goes to a file descriptor, which is closed here. */
export function startLogProcess(lines: number, perSecond: number, stdout: number): LogProcess {
  const { promise: written, resolve } = Promise.withResolvers<Written>();
  const command = [process.execPath, join(import.meta.dir, "log-child.ts"), `${lines}`, `${perSecond}`];
  const child = Bun.spawn(command, {
    stdout,
    stderr: "inherit",
    ipc: (message: Written) => resolve(message),
  });
  closeSync(stdout);
  return {
    written,
    exited: child.exited,
    close: () => child.send("close"),
    kill: (signal) => child.kill(signal),
  };
}

/** A pipe of 64 KiB that is read only when asked. */
export interface UnreadPipe {
  readonly writeEnd: number;
  /** Returns what can be read, "" while nothing can, and `undefined` at the end. */
  read(): string | undefined;
  closeReadEnd(): void;
}

/** Creates a named pipe, because a stream of a child process is read ahead. */
export function createPipe(): UnreadPipe {
  const path = join(tempFolder(), "pipe");
  Bun.spawnSync(["mkfifo", path]);
  const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const buffer = Buffer.alloc(64 * 1024);
  const decoder = new TextDecoder();
  return {
    writeEnd: openSync(path, constants.O_WRONLY),
    read() {
      try {
        const bytes = readSync(readEnd, buffer);
        return bytes === 0 ? undefined : decoder.decode(buffer.subarray(0, bytes), { stream: true });
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "EAGAIN") return "";
        throw error;
      }
    },
    closeReadEnd: () => closeSync(readEnd),
  };
}
