import type { TraceContext } from "../domain/trace-context.ts";
import type { Log } from "./log.ts";
import { RequestTrace, type TraceSpan, type WriteStep } from "./request-trace.ts";

/** A request whose trace begins. */
interface TracedRequest {
  readonly requestId: string;
  /** The path of the route, such as "/v1/chat/completions". */
  readonly route: string;
  /** The name of the surface in the log. */
  readonly surface: string;
  readonly headers: Headers;
  /** Clock reading at arrival. */
  readonly startedAt: number;
}

/** Starts the span of a request, within the trace that its headers name. */
export type StartRequestSpan = (request: TracedRequest, nowMs: number) => TraceSpan;

/** Follows requests step by step. */
export interface RequestTracing {
  begin(request: TracedRequest): BegunTrace;
}

/** What is known of a trace when its request begins. */
interface BegunTrace {
  /** 32 hex digits; `undefined` without traces. */
  readonly traceId: string | undefined;
  /** What upstreams are sent when the request is not followed. */
  readonly context: TraceContext | undefined;
  /** `undefined` when the steps would be lost: the trace is not sampled, and no line is written. */
  readonly steps: RequestTrace | undefined;
}

interface RequestTracingOptions {
  readonly log: Pick<Log, "debug" | "info">;
  readonly logLevel: string;
  /** Ids of the keys whose steps are logged at every level up to info. */
  readonly debugKeys: readonly string[] | undefined;
  readonly startSpan: StartRequestSpan | undefined;
  readonly capturesContent: boolean;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
}

/**
 * Returns `undefined` when no request is followed: without traces, above the level debug, and without keys
 * that are marked for debug. Requests then pay nothing.
 */
export function createRequestTracing(options: RequestTracingOptions): RequestTracing | undefined {
  const { log, logLevel, startSpan, capturesContent, clock } = options;
  const debugKeys = new Set(options.debugKeys);
  const isDebug = logLevel === "debug" || logLevel === "trace";
  if (!startSpan && !isDebug && debugKeys.size === 0) return undefined;
  const debug: WriteStep = (fields, event) => log.debug(fields, event);
  const info: WriteStep = (fields, event) => log.info(fields, event);
  const write = isDebug ? debug : undefined;
  const writeFor =
    debugKeys.size > 0 ? (keyId: string) => (debugKeys.has(keyId) ? info : undefined) : undefined;
  return {
    begin(request) {
      const { requestId } = request;
      const span = startSpan?.(request, clock());
      const isSeen = span?.isRecorded === true || write !== undefined || writeFor !== undefined;
      const parts = { requestId, clock, span, write, writeFor, capturesContent };
      const steps = isSeen ? new RequestTrace(parts) : undefined;
      return { traceId: span?.traceId, context: span?.child("", 0, true).context, steps };
    },
  };
}

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
