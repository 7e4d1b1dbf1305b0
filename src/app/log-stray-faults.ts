import { describeFault, type Log } from "../telemetry/log.ts";

/** Resolves with the name of the signal that asks this process to end. */
export function untilSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const name of ["SIGTERM", "SIGINT"]) process.once(name, resolve);
  });
}

/**
 * Logs faults that nobody caught, which end one request at most, and warnings of the runtime and of libraries. Bun
 * itself would print their texts to stderr, whoever wrote them.
 */
export function logStrayFaults(log: Log): void {
  for (const event of ["uncaughtException", "unhandledRejection"]) {
    process.on(event, (fault) => log.error(describeFault(fault), "stray fault"));
  }
  // The runtime's own listener is what prints.
  process.removeAllListeners("warning");
  process.on("warning", (warning) => log.warn(describeFault(warning), "runtime warning"));
}
