import { isatty } from "node:tty";

/** Resolves with the name of the signal, SIGTERM or SIGINT, that asks this process to end. */
export function untilSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const name of ["SIGTERM", "SIGINT"]) process.once(name, resolve);
  });
}

/** Handles SIGHUP, which would end the process by default. */
export interface Hangups {
  /** Sets the listener for every later SIGHUP. Calls it at once when a SIGHUP came before. */
  listen(onHangup: () => void): void;
}

/**
 * Handles SIGHUP from now on. When the terminal that the process was started in is closed, SIGHUP ends the
 * process like SIGTERM.
 */
export function catchHangups(): Hangups {
  const terminals = [0, 1, 2].filter((fd) => isatty(fd));
  let isPending = false;
  let isEnding = false;
  let listener: (() => void) | undefined;
  process.on("SIGHUP", () => {
    // Shell and kernel may both send SIGHUP, and a second SIGTERM would not wait for running requests.
    if (isEnding) return;
    isEnding = terminals.length > 0 && !terminals.some((fd) => isatty(fd));
    if (isEnding) process.kill(process.pid, "SIGTERM");
    else if (listener) listener();
    else isPending = true;
  });
  return {
    listen(onHangup) {
      listener = onHangup;
      if (isPending) onHangup();
      isPending = false;
    },
  };
}
