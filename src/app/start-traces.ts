import type { Config, LedgerProcessConfig, LiveConfig } from "../config/config.ts";
import { VERSION } from "../domain/version.ts";
import type { Log } from "../telemetry/log.ts";
import { createRequestTracing, type RequestTracing } from "../telemetry/request-tracing.ts";
import type { Traces } from "../telemetry/trace-export.ts";

/** Time for the last export, at the end of a drain. */
export const EXPORT_MS_MAX = 2_000;

/** Starts to export traces. Resolves with `undefined`, and loads nothing, where they are off. */
export async function startTraces(
  { traces: config }: Pick<LedgerProcessConfig, "traces">,
  { serviceName, log }: { readonly serviceName: string; readonly log: Pick<Log, "warn"> },
): Promise<Traces | undefined> {
  if (!config) return undefined;
  const { startTraces: start } = await import("../telemetry/trace-export.ts");
  return start(config, { serviceName, version: VERSION, log });
}

interface FollowerParts {
  readonly traces: Traces | undefined;
  readonly log: Log;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
}

/** Returns a function that decides how requests are followed under a configuration. */
export function createFollower(
  { logLevel, traces: config }: Config,
  { traces, log, clock }: FollowerParts,
): (live: LiveConfig) => RequestTracing | undefined {
  const capturesContent = config?.capturesContent ?? false;
  const startSpan = traces?.startRequest;
  return ({ debugKeys }) =>
    createRequestTracing({ log, logLevel, debugKeys, startSpan, capturesContent, clock });
}
