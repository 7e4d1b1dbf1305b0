import { describeFault, type Log } from "../telemetry/log.ts";

/**
 * Logs uncaught exceptions, unhandled rejections and warnings of the runtime and of libraries. The process
 * continues, as a stray fault ends one request at most. Without this, Bun prints their texts to stderr.
 */
export function logStrayFaults(log: Log): void {
  for (const event of ["uncaughtException", "unhandledRejection"]) {
    process.on(event, (fault) => log.error(describeFault(fault), "stray fault"));
  }
  // The runtime's own listener prints warnings to stderr.
  process.removeAllListeners("warning");
  process.on("warning", (warning) => log.warn(describeFault(warning), "runtime warning"));
}
