import {
  type Attributes,
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { parseTraceParent } from "@opentelemetry/core";
import type { TraceContext } from "../domain/trace-context.ts";
import type { TraceFacts, TraceFailure, TraceSpan } from "./request-trace.ts";
import type { StartRequestSpan } from "./request-tracing.ts";

/** The span of one ledger command. */
interface CommandSpan {
  /** `reason` is the error code of a command that was not applied. */
  end(reason?: string): void;
}

/** Creates the spans of requests and of ledger commands. */
export interface Spans {
  readonly startRequest: StartRequestSpan;
  /** Returns `undefined` for a context that is invalid or not sampled. */
  startCommand(service: string, method: string, context: TraceContext): CommandSpan | undefined;
}

/** `propagates`: whether a request continues the trace of its client, and an upstream that of the request. */
export function createSpans(tracer: Tracer, { propagates }: { readonly propagates: boolean }): Spans {
  return {
    startRequest({ requestId, route, surface, headers, startedAt }, nowMs) {
      // Both clocks are read together for each request, because the wall clock may jump.
      const epochMs = Date.now() - nowMs;
      const parent = propagates ? readContext(contextOf(headers)) : ROOT_CONTEXT;
      const options = { kind: SpanKind.SERVER, startTime: epochMs + startedAt };
      const span = tracer.startSpan(`POST ${route}`, options, parent);
      if (span.isRecording()) span.setAttributes(attributesOf({ method: "POST", route, requestId, surface }));
      return new RecordedSpan({ tracer, epochMs, propagates }, span, true);
    },
    startCommand(service, method, context) {
      const parent = readContext(context);
      if (parent === ROOT_CONTEXT) return undefined;
      const attributes = attributesOf({ rpcSystem: "grpc", rpcService: service, rpcMethod: method });
      const span = tracer.startSpan(`${service}/${method}`, { kind: SpanKind.SERVER, attributes }, parent);
      return span.isRecording() ? { end: (reason) => endCommand(span, reason) } : undefined;
    },
  };
}

/** Every other error code of the ledger declines a command, which is no fault. */
const COMMAND_FAULTS = ["internal", "unavailable", "queue_full", "deadline_exceeded"];

function endCommand(span: Span, reason: string | undefined): void {
  if (reason !== undefined) span.setAttribute("error.type", reason);
  if (reason !== undefined && COMMAND_FAULTS.includes(reason)) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

function contextOf(headers: Headers): TraceContext {
  return {
    traceparent: headers.get("traceparent") ?? "",
    tracestate: headers.get("tracestate") ?? undefined,
  };
}

/** Returns the root for a missing or malformed `traceparent`. A malformed `tracestate` is dropped alone. */
function readContext({ traceparent, tracestate }: TraceContext): Context {
  const parent = parseTraceParent(traceparent);
  if (!parent) return ROOT_CONTEXT;
  const traceState = tracestate ? createTraceState(tracestate) : undefined;
  return trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true, ...(traceState && { traceState }) });
}

interface SpanParts {
  readonly tracer: Tracer;
  /** Unix time at the zero of the monotonic clock, in milliseconds. */
  readonly epochMs: number;
  readonly propagates: boolean;
}

/** A span of the library. A span that is not sampled is its own child, and records nothing. */
class RecordedSpan implements TraceSpan {
  readonly #parts: SpanParts;
  readonly #span: Span;
  readonly #sendsContext: boolean;
  #within: Context | undefined;

  constructor(parts: SpanParts, span: Span, sendsContext: boolean) {
    this.#parts = parts;
    this.#span = span;
    this.#sendsContext = sendsContext;
  }

  get isRecorded(): boolean {
    return this.#span.isRecording();
  }

  get traceId(): string {
    return this.#span.spanContext().traceId;
  }

  get context(): TraceContext | undefined {
    if (!this.#sendsContext) return undefined;
    const { traceId, spanId, traceFlags, traceState } = this.#span.spanContext();
    const flags = (traceFlags & TraceFlags.SAMPLED) === 0 ? "00" : "01";
    const traceparent = `00-${traceId}-${spanId}-${flags}`;
    const tracestate = traceState?.serialize();
    return tracestate ? { traceparent, tracestate } : { traceparent };
  }

  child(name: string, at: number, isCall = false): TraceSpan {
    const { tracer, epochMs, propagates } = this.#parts;
    const sendsContext = !isCall || propagates;
    if (!this.#span.isRecording()) return new RecordedSpan(this.#parts, this.#span, sendsContext);
    this.#within ??= trace.setSpan(ROOT_CONTEXT, this.#span);
    const kind = isCall ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const span = tracer.startSpan(name, { kind, startTime: epochMs + at }, this.#within);
    return new RecordedSpan(this.#parts, span, sendsContext);
  }

  end(at: number, facts: TraceFacts, failure?: TraceFailure): void {
    if (!this.#span.isRecording()) return;
    this.#span.setAttributes(attributesOf(facts));
    if (failure) this.#span.setAttribute("error.type", failure.code);
    if (failure?.isFault) this.#span.setStatus({ code: SpanStatusCode.ERROR });
    this.#span.end(this.#parts.epochMs + at);
  }
}

/**
 * The facts that OpenTelemetry has names for; all others become `tollgate.*`.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
 * @see https://opentelemetry.io/docs/specs/semconv/http/http-spans/
 */
const NAMES: Readonly<Record<string, string>> = {
  method: "http.request.method",
  route: "http.route",
  status: "http.response.status_code",
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  model: "gen_ai.request.model",
  responseId: "gen_ai.response.id",
  responseModel: "gen_ai.response.model",
  finishReasons: "gen_ai.response.finish_reasons",
  maxTokens: "gen_ai.request.max_tokens",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cachedInputTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheWriteTokens: "gen_ai.usage.cache_creation.input_tokens",
  serverAddress: "server.address",
  serverPort: "server.port",
  rpcSystem: "rpc.system",
  rpcService: "rpc.service",
  rpcMethod: "rpc.method",
};

/** The longest text of a prompt or an answer on a span, in UTF-16 units. */
const CONTENT_MAX = 16_384;

/** The roles of the texts that spans carry when content is switched on. */
const CONTENT: Readonly<Record<string, readonly [name: string, role: string]>> = {
  prompt: ["gen_ai.input.messages", "user"],
  answer: ["gen_ai.output.messages", "assistant"],
};

/** Returns the attributes of a span. An outcome other than `ok` is also its `error.type`. */
function attributesOf(facts: TraceFacts): Attributes {
  const attributes: Attributes = {};
  for (const name in facts) {
    const value = facts[name];
    if (value === undefined) continue;
    const content = CONTENT[name];
    if (content) attributes[content[0]] = printMessage(content[1], String(value));
    else attributes[NAMES[name] ?? `tollgate.${snakeCase(name)}`] = Array.isArray(value) ? [...value] : value;
  }
  const { outcome } = facts;
  if (outcome !== undefined && outcome !== "ok") attributes["error.type"] = outcome;
  return attributes;
}

/** One message of the GenAI conventions, its text cut to 16,384 characters. */
function printMessage(role: string, text: string): string {
  return JSON.stringify([{ role, parts: [{ type: "text", content: text.slice(0, CONTENT_MAX) }] }]);
}

const snakeNames = new Map<string, string>();

/** The names of facts are few and fixed, so each is converted once. */
function snakeCase(name: string): string {
  let snake = snakeNames.get(name);
  if (snake === undefined) {
    snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    snakeNames.set(name, snake);
  }
  return snake;
}
