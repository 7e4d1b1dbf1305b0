import type { Registry } from "prom-client";
import { loadPart, requireFreeFiles } from "../program-files.ts";

/**
 * The process metrics of prom-client that are correct on Bun. Left out because they are wrong:
 * - heap sizes: address space, and a used heap larger than the total;
 * - handles, requests, resources and garbage collections: always 0;
 * - the version of Node;
 * - mean, minimum and deviation of the lag: NaN without samples.
 */
const CORRECT_ON_BUN = [
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

/**
 * Collects CPU time (from now on), memory, open files, and the event-loop lag since the last reading. Loads the
 * library at the first reading, because it would add 30 ms to the start.
 */
export async function collectProcess(): Promise<Registry> {
  // The library reads the limit of open files once, when it begins to collect, and keeps a failure for ever.
  requireFreeFiles();
  const client = await loadPart(() => import("prom-client"));
  const registry = new client.Registry();
  client.collectDefaultMetrics({ register: registry });
  for (const { name } of registry.getMetricsAsArray()) {
    if (!CORRECT_ON_BUN.includes(name)) registry.removeSingleMetric(name);
  }
  return registry;
}
