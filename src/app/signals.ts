import { isatty } from "node:tty";

/** What SIGHUP asks for, instead of the end of the process, which is what it does by default. */
export interface Hangups {
  /** Calls for every SIGHUP from now on, and at once when there has been one already. */
  listen(onHangup: () => void): void;
}

/**
 * Takes SIGHUP from now on. Where the terminal is gone that the process was started in, that is what it tells
 * of, and it ends the process as SIGTERM does.
 */
export function catchHangups(): Hangups {
  const terminals = [0, 1, 2].filter((fd) => isatty(fd));
  let hasCome = false;
  let isEnding = false;
  let listener: (() => void) | undefined;
  process.on("SIGHUP", () => {
    // Shell and kernel may both tell, and a second SIGTERM would not wait for running requests.
    if (isEnding) return;
    isEnding = terminals.length > 0 && !terminals.some((fd) => isatty(fd));
    if (isEnding) process.kill(process.pid, "SIGTERM");
    else if (listener) listener();
    else hasCome = true;
  });
  return {
    listen(onHangup) {
      listener = onHangup;
      if (hasCome) onHangup();
      hasCome = false;
    },
  };
}
