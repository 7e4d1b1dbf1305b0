import type { Config } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import { createMasterKeys } from "../db/sealing.ts";
import { createRecorder } from "../recordings/recorder.ts";
import { startRefusalRecorder } from "../refusals/recorder.ts";
import type { Log } from "../telemetry/log.ts";
import type { RecordingMetrics } from "../telemetry/recording-metrics.ts";
import type { RequestMetrics } from "../telemetry/request-metrics.ts";
import { RouteHours } from "../usage/route-hours.ts";

interface Foundation {
  readonly database: Database;
  readonly log: Log;
  readonly metrics: { readonly requests: RequestMetrics; readonly recordings: RecordingMetrics };
}

/** Starts what keeps facts of requests in the database: counts, refusals, and bodies of keys that say so. */
export function startRecorders(
  { recordings: bounds, console }: Config,
  { database, log, metrics: { requests, recordings: metrics } }: Foundation,
) {
  const refusals = startRefusalRecorder({ database, log });
  const routeHours = new RouteHours({ database, log });
  // Its keys follow the file that has them.
  const masterKeys = createMasterKeys(() => console.recordingKeys);
  const recorder = createRecorder({ database, log, bounds, masterKeys, metrics });
  const ended: RequestMetrics["ended"] = (request) => {
    requests.ended(request);
    routeHours.requestEnded(request);
  };
  return {
    parts: { refusals, routeHours, recorder, requestMetrics: { ...requests, ended } },
    close: async () => void (await Promise.all([refusals.close(), routeHours.close(), recorder.close()])),
  };
}
