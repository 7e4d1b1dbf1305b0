import type { Registry } from "prom-client";

/**
 * Those of prom-client's process metrics that are true on Bun. Left out: heap sizes (address space, and a used
 * heap larger than the whole), handles, requests, resources and garbage collections (always 0), the version
 * of a Node that is not there, and the mean, minimum and deviation of the lag (not numbers after no sample).
 */
const TRUE_ON_BUN = [
  "process_cpu_user_seconds_total",
  "process_cpu_system_seconds_total",
  "process_cpu_seconds_total",
  "process_start_time_seconds",
  "process_resident_memory_bytes",
  "process_virtual_memory_bytes",
  "process_open_fds",
  "process_max_fds",
  "nodejs_eventloop_lag_seconds",
  "nodejs_eventloop_lag_max_seconds",
  "nodejs_eventloop_lag_p50_seconds",
  "nodejs_eventloop_lag_p90_seconds",
  "nodejs_eventloop_lag_p99_seconds",
];

/** Adds what the process is: CPU (from now on), memory, open files, the event loop's lag since the last reading. */
export function registerProcess(client: typeof import("prom-client"), registry: Registry): void {
  client.collectDefaultMetrics({ register: registry });
  for (const { name } of registry.getMetricsAsArray()) {
    if (!TRUE_ON_BUN.includes(name)) registry.removeSingleMetric(name);
  }
}
