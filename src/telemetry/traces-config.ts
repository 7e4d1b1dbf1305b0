/** Where and how traces are exported, from the standard variables of OpenTelemetry. */
export interface TracesConfig {
  /** Receives spans over OTLP: "http://collector:4318/v1/traces". */
  readonly url: string;
  readonly protocol: "http/protobuf" | "http/json";
  /** Headers of every export; their values are secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** `service.name`; `undefined` for the name of the process. */
  readonly serviceName: string | undefined;
  readonly resourceAttributes: Readonly<Record<string, string>>;
  readonly sampler: TraceSampler;
  /** Whether traces of clients are continued, and passed on to upstreams. */
  readonly propagates: boolean;
  /** Whether spans carry the texts of prompts and answers. */
  readonly capturesContent: boolean;
  /** Spans that may wait for the export; further ones are dropped and counted. */
  readonly queueMax: number;
  /** Spans in one export. */
  readonly batchMax: number;
  /** How long fewer spans wait for more, in milliseconds. */
  readonly delayMs: number;
}

/** Which traces are recorded. A sampler based on the parent follows the decision that came with a request. */
export interface TraceSampler {
  readonly isParentBased: boolean;
  /** Share of the other traces, from 0 to 1. */
  readonly ratio: number;
}
