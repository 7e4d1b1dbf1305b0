import type { Printed, Soon } from "../bodies/body.ts";
import type { MessagesHost, Route } from "../domain/model.ts";
import type { TraceContext } from "../domain/trace-context.ts";
import { inputTokensOf } from "../domain/usage.ts";
import type { Attempt } from "../ledger/records.ts";
import type { AttemptTrace, TraceFacts, TraceFailure } from "../telemetry/request-trace.ts";
import type { CallBody, UpstreamCall } from "../upstream/upstream.ts";
import { allowHeaderBetas, betasOfHost, namedBetas } from "../wire/anthropic-messages/betas.ts";
import type { PrintOptions, UpstreamFormat } from "../wire/format.ts";
import { type Candidate, type HeldRequest, type Outcome, outcomeName, type Quote } from "./request.ts";

type CallParts = Pick<HeldRequest, "call" | "body"> & { readonly candidate: Candidate };

/** A body that could not be printed. Never a fault of the upstream. */
export interface Unprinted {
  readonly fault: unknown;
}

/** Prints the call of a candidate, before its timeouts start. Never rejects. */
export async function prepareCall(
  { call, body, quote }: HeldRequest,
  candidate: Candidate,
): Promise<UpstreamCall | Unprinted> {
  const { format, isPassthrough } = candidate.codec;
  const options = printOptionsOf(candidate, quote);
  const { model, stream } = options;
  try {
    return {
      surface: format.surface,
      path: format.upstreamPath(options),
      model,
      stream,
      body: await printCallBody(() => body.print(format.surface, options)),
      headers: headersOf({ call, body, candidate }),
      query: isPassthrough ? call.query : "",
    };
  } catch (fault) {
    return { fault };
  }
}

/** The headers of a call beside its credentials. */
function headersOf({ call, body, candidate }: CallParts): Readonly<Record<string, string>> {
  const { format, isPassthrough } = candidate.codec;
  const headers = isPassthrough ? forwardedHeaders(format, { call, body }, candidate) : format.headers;
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
    this.bytes = typeof printed === "string" ? Buffer.byteLength(printed) : printed.byteLength;
    this.#print = print;
    this.#printed = printed;
  }

  take(): Soon<Printed> {
    const taken = this.#printed ?? this.#print();
    this.#printed = undefined;
    return taken;
  }
}

/**
 * The client's headers that the format forwards, with the Anthropic betas that the operator allows on the
 * route and that its host knows.
 */
export function forwardedHeaders(
  format: UpstreamFormat,
  { call: { headers }, body }: Pick<HeldRequest, "call" | "body">,
  { route, upstream: { messagesHost } }: Pick<Candidate, "route" | "upstream">,
): Readonly<Record<string, string>> {
  if (format.forwardedHeaders.length === 0) return format.headers;
  const named = headers["anthropic-beta"];
  const sent = messagesHost
    ? betasInHeader(messagesHost, namedBetas(named, body.request.betas), route)
    : named && allowHeaderBetas(named, route.betas);
  if (sent === named) return { ...format.headers, ...headers };
  const { "anthropic-beta": _, ...others } = { ...format.headers, ...headers };
  return sent ? { ...others, "anthropic-beta": sent } : others;
}

/** The header of betas for a host that reads it; "" where the body has them. */
function betasInHeader(host: MessagesHost, named: readonly string[], { betas }: Route): string {
  return host.betasIn === "body" ? "" : betasOfHost(named, host, betas).join(",");
}

/** The planned options, unless limits or the grant have lowered the output limit since. */
function printOptionsOf({ printOptions }: Candidate, { outputTokensMax }: Quote): PrintOptions {
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
    maxTokens: held.quote.outputTokensMax,
    status: attempt.status === 0 ? undefined : attempt.status,
    outcome: outcomeName(outcome),
    ...usageFacts(held),
  };
  const content = held.call.trace?.capturesContent ? await contentFacts(held) : {};
  trace.end({ ...facts, ...content }, failureOf(outcome));
}

function operationOf({ codec }: Candidate): string {
  return codec.format.surface === "embeddings" ? "embeddings" : "chat";
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
