import type { Database } from "../db/database.ts";
import { startRefusalRecorder } from "../refusals/recorder.ts";
import { RouteHours } from "../route-hours.ts";
import type { Log } from "../telemetry/log.ts";
import type { RequestMetrics } from "../telemetry/request-metrics.ts";

/** Starts what counts requests in the database. A request also counts in the metrics. */
export function startRecorders(
  database: Database,
  { log, requests }: { readonly log: Log; readonly requests: RequestMetrics },
) {
  const refusals = startRefusalRecorder({ database, log });
  const routeHours = new RouteHours({ database, log });
  const ended: RequestMetrics["ended"] = (request) => {
    requests.ended(request);
    routeHours.requestEnded(request);
  };
  return {
    parts: { refusals, routeHours, requestMetrics: { ...requests, ended } },
    close: async () => void (await Promise.all([refusals.close(), routeHours.close()])),
  };
}
