import { ExportResultCode } from "@opentelemetry/core";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { waitAtMost } from "../platform.ts";
import type { Log } from "./log.ts";
import type { TraceSampler, TracesConfig } from "./request-tracing.ts";
import { createSpans, type Spans } from "./spans.ts";

/** Traces of one process, exported in the background. */
export interface Traces extends Spans {
  /** Spans that were not exported since the start: the queue was full, or the receiver failed. */
  readonly dropped: number;
  /** Exports what waits, for at most `maxMs`. Spans that end later are dropped. */
  close(maxMs: number): Promise<void>;
}

export interface TraceProcess {
  readonly serviceName: string;
  readonly version: string;
  readonly log: Pick<Log, "warn">;
  /** Time between two lines about dropped spans. */
  readonly reportEveryMs?: number;
}

/** One line a minute at most, however long the receiver is away. */
const REPORT_EVERY_MS = 60_000;

/** Starts to export traces. Never rejects for a receiver that is away. */
export async function startTraces(config: TracesConfig, process: TraceProcess): Promise<Traces> {
  const { version, log, reportEveryMs = REPORT_EVERY_MS } = process;
  const queue = new BoundedQueue(config, await createExporter(config));
  const provider = new TracerProvider({
    resource: resourceOf(config, process),
    sampler: createSampler(config.sampler),
    spanProcessors: [queue],
  });
  const reportDropped = createReport(queue, log);
  const timer = setInterval(reportDropped, reportEveryMs);
  timer.unref();
  return {
    ...createSpans(provider.getTracer("tollgate", version), config),
    get dropped() {
      return queue.dropped;
    },
    async close(maxMs) {
      clearInterval(timer);
      await waitAtMost(
        maxMs,
        provider.shutdown().catch(() => undefined),
      );
      queue.dropAll();
      reportDropped();
    },
  };
}

function createReport(queue: BoundedQueue, log: TraceProcess["log"]): () => void {
  let reported = 0;
  return () => {
    const spans = queue.dropped - reported;
    if (spans > 0) log.warn({ spans, total: queue.dropped }, "spans dropped");
    reported = queue.dropped;
  };
}

/** Each format is a package of its own, loaded when it is used. */
async function createExporter({ url, protocol, headers }: TracesConfig): Promise<SpanExporter> {
  const { OTLPTraceExporter } = await (protocol === "http/json"
    ? import("@opentelemetry/exporter-trace-otlp-http")
    : import("@opentelemetry/exporter-trace-otlp-proto"));
  return new OTLPTraceExporter({ url, headers: { ...headers } });
}

function resourceOf(config: TracesConfig, { serviceName, version }: TraceProcess) {
  const attributes = {
    "service.instance.id": crypto.randomUUID(),
    "service.version": version,
    ...config.resourceAttributes,
    "service.name": config.serviceName ?? config.resourceAttributes["service.name"] ?? serviceName,
  };
  return defaultResource().merge(resourceFromAttributes(attributes));
}

function createSampler({ isParentBased, ratio }: TraceSampler): Sampler {
  const sampler = new TraceIdRatioBasedSampler(ratio);
  return isParentBased ? new ParentBasedSampler({ root: sampler }) : sampler;
}

/**
 * The library's queue, with a count of what it loses. Spans are pending until their export has ended, so that
 * a slow receiver holds at most `queueMax` of them in memory.
 */
class BoundedQueue implements SpanProcessor {
  dropped = 0;
  #pending = 0;
  readonly #queueMax: number;
  readonly #inner: BatchSpanProcessor;

  constructor({ queueMax, batchMax, delayMs }: TracesConfig, exporter: SpanExporter) {
    this.#queueMax = queueMax;
    this.#inner = new BatchSpanProcessor({
      exporter: {
        export: (spans, onResult) =>
          exporter.export(spans, (result) => {
            this.#ended(spans.length, result.code === ExportResultCode.SUCCESS);
            onResult(result);
          }),
        shutdown: () => exporter.shutdown(),
      },
      maxQueueSize: queueMax,
      maxExportBatchSize: Math.min(batchMax, queueMax),
      scheduledDelayMillis: delayMs,
    });
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.#pending >= this.#queueMax) {
      this.dropped += 1;
      return;
    }
    this.#pending += 1;
    this.#inner.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#inner.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#inner.shutdown();
  }

  /** Counts what is pending as dropped, after the last export. */
  dropAll(): void {
    this.dropped += this.#pending;
    this.#pending = 0;
  }

  #ended(spans: number, isExported: boolean): void {
    // After `dropAll` the pending spans are counted already.
    if (this.#pending === 0) return;
    this.#pending -= spans;
    if (!isExported) this.dropped += spans;
  }
}
