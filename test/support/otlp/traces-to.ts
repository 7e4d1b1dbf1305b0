import type { TracesConfig } from "../../../src/telemetry/request-tracing.ts";

/** Settings that export every span to a receiver within 20 ms. */
export function tracesTo(url: string, more: Partial<TracesConfig> = {}): TracesConfig {
  return {
    url: `${url}/v1/traces`,
    protocol: "http/protobuf",
    headers: {},
    serviceName: undefined,
    resourceAttributes: {},
    sampler: { isParentBased: true, ratio: 1 },
    propagates: true,
    capturesContent: false,
    queueMax: 8_192,
    batchMax: 512,
    delayMs: 20,
    ...more,
  };
}
