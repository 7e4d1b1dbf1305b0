import { describeFault, type Log } from "./telemetry/log.ts";

/** Resolves with the name of the signal that asks this process to end. */
export function untilSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const name of ["SIGTERM", "SIGINT"]) process.once(name, resolve);
  });
}

/** A fault that nobody caught ends one request at most; Bun itself would print its text, whoever wrote that. */
export function logStrayFaults(log: Log): void {
  for (const event of ["uncaughtException", "unhandledRejection"]) {
    process.on(event, (fault) => log.error(describeFault(fault), "stray fault"));
  }
}
