import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { loadSync, type MessageTypeDefinition } from "@grpc/proto-loader";
import { until } from "../until.ts";

type AttributeValue = string | number | boolean | readonly AttributeValue[];

/** One span as a receiver sees it. */
export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  readonly kind: "internal" | "server" | "client";
  readonly traceId: string;
  readonly spanId: string;
  /** "" for the first span of a trace. */
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly isError: boolean;
}

/** A receiver of spans over OTLP, in both encodings. */
export interface OtlpReceiver {
  /** "http://127.0.0.1:PORT", a value for OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  /** Headers of the exports so far. */
  readonly exports: readonly Headers[];
  /** Every body so far, for a search. */
  readonly bytes: readonly Buffer[];
  readonly spans: readonly ReceivedSpan[];
  /** Returns the spans of a trace once one without a parent here is among them. Throws after two minutes. */
  trace(isIn: (span: ReceivedSpan) => boolean): Promise<readonly ReceivedSpan[]>;
  stop(): Promise<void>;
}

const protos = loadSync(join(import.meta.dir, "trace.proto"), {
  longs: String,
  bytes: String,
  defaults: true,
});
const KINDS: Readonly<Record<number, ReceivedSpan["kind"]>> = { 1: "internal", 2: "server", 3: "client" };
const ERROR = 2;

/** Starts a receiver. `answer` replaces its empty 200. */
export function startOtlpReceiver(
  answer: () => Response | Promise<Response> = () => new Response(""),
): OtlpReceiver {
  const exports: Headers[] = [];
  const bytes: Buffer[] = [];
  const spans: ReceivedSpan[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const body = Buffer.from(await request.arrayBuffer());
      const plain = request.headers.get("content-encoding") === "gzip" ? gunzipSync(body) : body;
      const isJson = request.headers.get("content-type") === "application/json";
      exports.push(request.headers);
      bytes.push(plain);
      const response = await answer();
      if (response.ok) spans.push(...readSpans(isJson ? JSON.parse(plain.toString()) : decode(plain)));
      return response;
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    exports,
    bytes,
    spans,
    async trace(isIn) {
      const find = () => spans.find((span) => span.kind === "server" && isIn(span));
      await until(() => find() !== undefined);
      return spans.filter(({ traceId }) => traceId === find()?.traceId);
    },
    stop: () => server.stop(true),
  };
}

function decode(bytes: Buffer): ExportRequest {
  // Safe because the proto has this message, with these members.
  const type = protos["otlp.ExportTraceServiceRequest"] as MessageTypeDefinition<object, ExportRequest>;
  return type.deserialize(bytes);
}

interface WireValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string | number;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values: readonly WireValue[] };
}

interface Attribute {
  readonly key: string;
  readonly value: WireValue;
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status?: { readonly code?: number } | null;
}

function readSpans({ resourceSpans }: ExportRequest): readonly ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(readAttributes(resource.attributes)["service.name"]);
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => readSpan(service, span)));
  });
}

function readSpan(service: string, span: WireSpan): ReceivedSpan {
  return {
    service,
    name: span.name,
    kind: KINDS[span.kind] ?? "internal",
    traceId: hexOf(span.traceId, 32),
    spanId: hexOf(span.spanId, 16),
    parentSpanId: hexOf(span.parentSpanId ?? "", 16),
    traceState: span.traceState ?? "",
    startMs: Number(span.startTimeUnixNano) / 1e6,
    endMs: Number(span.endTimeUnixNano) / 1e6,
    attributes: readAttributes(span.attributes),
    isError: span.status?.code === ERROR,
  };
}

/** Ids are hex in JSON, and bytes in protobuf, which are decoded to base64. */
function hexOf(id: string, length: number): string {
  return id.length === length || id === "" ? id : Buffer.from(id, "base64").toString("hex");
}

function readAttributes(attributes: readonly Attribute[]): ReceivedSpan["attributes"] {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, readValue(value)]));
}

function readValue({ stringValue, boolValue, intValue, doubleValue, arrayValue }: WireValue): AttributeValue {
  if (arrayValue) return arrayValue.values.map(readValue);
  return (
    stringValue ?? boolValue ?? (intValue === undefined ? undefined : Number(intValue)) ?? doubleValue ?? ""
  );
}
