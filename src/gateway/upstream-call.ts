import type { Soon } from "../bodies/body.ts";
import type { Printed } from "../bodies/open-body.ts";
import { bytesOf } from "../domain/byte-blocks.ts";
import type { TraceContext } from "../domain/trace-context.ts";
import { inputTokensOf } from "../domain/usage.ts";
import type { Attempt } from "../ledger/records.ts";
import type { AttemptTrace, TraceFacts, TraceFailure } from "../telemetry/request-trace.ts";
import type { CallBody, UpstreamCall } from "../upstream/upstream.ts";
import type { PrintOptions, UpstreamFormat } from "../wire/format.ts";
import type { HostOptions } from "../wire/model-request.ts";
import { outputLimitOf } from "./abilities.ts";
import type { Quote } from "./quote.ts";
import { type Candidate, type HeldRequest, type Outcome, outcomeName } from "./request.ts";

type CallParts = Pick<HeldRequest, "call" | "body"> & { readonly candidate: Candidate };

/** A body that could not be printed. Never a fault of the upstream. */
export interface Unprinted {
  readonly fault: unknown;
}

/** Prints the call of a candidate, before its timeouts start. Never rejects. */
export function prepareCall(
  { call, body, quote }: HeldRequest,
  candidate: Candidate,
): Soon<UpstreamCall | Unprinted> {
  const { format, isPassthrough } = candidate.codec;
  const options = printOptionsOf(candidate, quote);
  const { model, stream } = options;
  const callOf = (printed: CallBody): UpstreamCall => ({
    surface: format.surface,
    path: format.upstreamPath(options),
    model,
    stream,
    body: printed,
    headers: headersOf({ call, body, candidate }),
    query: isPassthrough ? call.query : "",
  });
  try {
    const printed = printCallBody(() => body.print(format.surface, options));
    return printed instanceof Promise ? printed.then(callOf).catch(unprinted) : callOf(printed);
  } catch (fault) {
    return unprinted(fault);
  }
}

function unprinted(fault: unknown): Unprinted {
  return { fault };
}

/** The headers of a call beside its credentials. */
function headersOf({ call, body, candidate }: CallParts): Readonly<Record<string, string>> {
  const { codec, printOptions } = candidate;
  const { format, isPassthrough } = codec;
  const headers = isPassthrough ? forwardedHeaders(format, { call, body }, printOptions) : format.headers;
  return body.contentType === undefined ? headers : { ...headers, "content-type": body.contentType };
}

/** Prints a body now, and again each time that it is sent once more. */
export function printCallBody(print: () => Soon<Printed>): Soon<CallBody> {
  const printed = print();
  return printed instanceof Promise
    ? printed.then((each) => new PrintedBody(each, print))
    : new PrintedBody(printed, print);
}

class PrintedBody implements CallBody {
  readonly bytes: number;
  readonly #print: () => Soon<Printed>;
  #printed: Printed | undefined;

  constructor(printed: Printed, print: () => Soon<Printed>) {
    this.bytes = typeof printed === "string" ? Buffer.byteLength(printed) : bytesOf(printed);
    this.#print = print;
    this.#printed = printed;
  }

  take(): Soon<Printed> {
    const taken = this.#printed ?? this.#print();
    this.#printed = undefined;
    return taken;
  }
}

/** The client's headers that the format forwards, as the route and its host take them. */
export function forwardedHeaders(
  format: UpstreamFormat,
  { call: { headers }, body }: Pick<HeldRequest, "call" | "body">,
  options: HostOptions,
): Readonly<Record<string, string>> {
  if (format.forwardedHeaders.length === 0) return format.headers;
  const sent = format.optIns ? format.optIns.headersFor(headers, body.request, options) : headers;
  return { ...format.headers, ...sent };
}

/** The planned options, unless limits, the grant or the route have lowered the output limit since. */
function printOptionsOf({ printOptions, route }: Candidate, quote: Quote): PrintOptions {
  const outputTokensMax = outputLimitOf(route, quote.outputTokensMax);
  return printOptions.outputTokensMax === outputTokensMax
    ? printOptions
    : { ...printOptions, outputTokensMax };
}

/** One attempt at a candidate. */
interface Traced {
  readonly held: HeldRequest;
  readonly candidate: Candidate;
}

/** Begins the trace of an attempt; `undefined` when the request is not followed. */
export function beginAttemptTrace({ held, candidate }: Traced): AttemptTrace | undefined {
  return held.call.trace?.attempt(`${operationOf(candidate)} ${candidate.route.upstreamModel}`);
}

/** Adds the headers by which the upstream continues the trace. */
export function withTraceHeaders(
  prepared: UpstreamCall | Unprinted,
  { traceparent, tracestate }: TraceContext,
): UpstreamCall | Unprinted {
  if ("fault" in prepared) return prepared;
  const headers = { ...prepared.headers, traceparent, ...(tracestate && { tracestate }) };
  return { ...prepared, headers };
}

/** Ends the trace of an attempt. Reads the texts of prompt and answer only where content is switched on. */
export async function endAttemptTrace(
  trace: AttemptTrace,
  { held, candidate }: Traced,
  { outcome, attempt }: { readonly outcome: Outcome; readonly attempt: Pick<Attempt, "status"> },
): Promise<void> {
  const { route, upstream } = candidate;
  const facts: TraceFacts = {
    upstream: upstream.name,
    serverAddress: upstream.address?.host,
    serverPort: upstream.address?.port,
    operation: operationOf(candidate),
    provider: upstream.provider,
    model: route.upstreamModel,
    maxTokens: outputLimitOf(route, held.quote.outputTokensMax),
    status: attempt.status === 0 ? undefined : attempt.status,
    outcome: outcomeName(outcome),
    ...usageFacts(held),
  };
  const content = held.call.trace?.capturesContent ? await contentFacts(held) : {};
  trace.end({ ...facts, ...content }, failureOf(outcome));
}

function operationOf({ codec }: Candidate): string {
  return codec.format.surface.endsWith("embeddings") ? "embeddings" : "chat";
}

function usageFacts({ meter }: HeldRequest): TraceFacts {
  const usage = meter.reported();
  if (!usage) return {};
  return {
    inputTokens: inputTokensOf(usage),
    outputTokens: usage.outputTokens,
    cachedInputTokens: usage.cachedInputTokens || undefined,
    cacheWriteTokens: usage.cacheWriteTokens + usage.cacheWrite1hTokens || undefined,
  };
}

async function contentFacts({ body, meter }: HeldRequest): Promise<TraceFacts> {
  try {
    return { prompt: await body.promptText(), answer: meter.generated() };
  } catch {
    // A text that cannot be joined does not belong to the outcome of the attempt.
    return {};
  }
}

/** A disconnect and a revoked key are no faults of the upstream. */
function failureOf(outcome: Outcome): TraceFailure | undefined {
  if (outcome.kind === "finished") return undefined;
  const isFault = outcome.kind === "failed" || outcome.kind === "unrepresentable" || outcome.kind === "empty";
  return { code: outcomeName(outcome), isFault };
}
