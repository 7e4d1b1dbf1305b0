import { type Caller, rootIdOf } from "../accounts/keys/key.ts";
import { GatewayError } from "../errors.ts";
import { countTokens } from "../gateway/count-tokens.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { readPreferenceHeaders } from "../gateway/preferences.ts";
import type { AttributionHeaders, Call, Reply } from "../gateway/request.ts";
import { runRequest } from "../gateway/run-request.ts";
import { platform } from "../platform.ts";
import type { RequestTrace } from "../telemetry/request-trace.ts";
import type { RequestTracing } from "../telemetry/request-tracing.ts";
import { COUNT_PATH } from "../wire/anthropic-messages/count-tokens.ts";
import { anthropicMessages } from "../wire/anthropic-messages/format.ts";
import type { WireFormat } from "../wire/format.ts";
import { WIRES } from "../wire/registry.ts";
import { type BodyReader, createBodyReader, discardBody, type ReceivedRequest } from "./body.ts";
import { logInternalError, reportRefusal } from "./errors.ts";
import type { HttpParts, RunningRequests } from "./http-parts.ts";
import { newRequestId, readClientRetry, readSecret } from "./identity.ts";
import type { BodySender } from "./incoming-bodies.ts";
import { createReply, type EndedReply } from "./reply.ts";

/** A route whose body names a model. */
export interface ModelRoute {
  readonly path: string;
  /** Name of the route in the log. */
  readonly surface: string;
  readonly wire: WireFormat;
  /** Processes a request. Throws `GatewayError`. */
  run(gateway: Gateway, call: Call, reply: Reply): Promise<void>;
  /** Changes a body before it is read. Throws `GatewayError`. Default: the bytes as they came. */
  readonly readBytes?: ((blocks: readonly Uint8Array[]) => readonly Uint8Array[]) | undefined;
  /** Creates the reply of a route whose answers differ from those of its format. */
  readonly createReply?: typeof createReply | undefined;
}

/** Answers the `POST` requests of one path. */
interface InferenceHandler {
  readonly path: string;
  answer(request: Request): Promise<Response>;
}

/** The handlers of all routes whose body names a model. All of them share one function. */
export function inferenceHandlers(parts: HttpParts): readonly InferenceHandler[] {
  return MODEL_ROUTES.map((route) => ({
    path: route.path,
    answer: (request) => answerModel(request, route, parts),
  }));
}

const MODEL_ROUTES: readonly ModelRoute[] = [
  ...Object.values(WIRES)
    .filter(({ hasModelInPath }) => !hasModelInPath)
    .flatMap((wire) =>
      [wire.path, ...(wire.aliases ?? [])].map((path) => ({
        path,
        surface: wire.surface,
        wire,
        run: runRequest,
      })),
    ),
  { path: COUNT_PATH, surface: "count_tokens", wire: anthropicMessages, run: countTokens },
];

/** Answers one request of a route. */
export function answerModel(request: Request, route: ModelRoute, parts: HttpParts): Promise<Response> {
  const { wire, readBytes } = route;
  const { headers } = request;
  const gateway = parts.gateway();
  const body = createBodyReader(request, parts);
  const call: Call = {
    id: newRequestId(),
    wire,
    secret: readSecret(headers),
    headers: forwardedHeaders(wire, headers),
    query: request.url.endsWith("?beta=true") ? "?beta=true" : "",
    allowsClamp: headers.get("x-tollgate-clamp") === "allow",
    attribution: readAttributionHeaders(headers),
    startedAt: gateway.clock(),
    createdAtS: Math.floor(platform.now() / 1000),
    readBody: readBytes
      ? async (caller) => readBytes(await body.read(senderOf(caller, gateway)))
      : (caller) => body.read(senderOf(caller, gateway)),
    record: readClientRetry(headers),
    progress: { waitedMs: 0 },
  };
  const reply = (route.createReply ?? createReply)({
    request,
    requestId: call.id,
    wire,
    onEnd: () => body.replied(),
  });
  void runRoute(gateway, { route, call, reply, body, request, running: parts.running });
  return reply.response;
}

/** Reads the headers of {@link AttributionHeaders}; `undefined` where all are missing. */
export function readAttributionHeaders(headers: Headers): AttributionHeaders | undefined {
  const user = headers.get("x-tollgate-user");
  const tags = headers.get("x-tollgate-tags");
  const run = headers.get("x-tollgate-run");
  const maxCost = headers.get("x-tollgate-max-cost-usd");
  const preferences = readPreferenceHeaders(headers);
  const isMissing = user === null && tags === null && run === null && maxCost === null;
  return isMissing && !preferences ? undefined : { user, tags, run, maxCost, preferences };
}

/** Bodies in transit are bounded like concurrent requests, but by at least 1: a limit of 0 applies later. */
export function senderOf({ key }: Caller, { keyLimits, accountLimits }: Gateway): BodySender {
  const keyRequestsMax = key.limits.concurrentRequests ?? keyLimits.concurrentRequests ?? Infinity;
  return {
    keyId: rootIdOf(key),
    keyBodiesMax: Math.max(keyRequestsMax, 1),
    accountId: key.accountId,
    accountBodiesMax: Math.max(accountLimits.concurrentRequests ?? Infinity, 1),
  };
}

/** One request of a model, with its reply. */
interface Run {
  readonly route: Pick<ModelRoute, "path" | "surface" | "run">;
  readonly call: Call;
  readonly reply: EndedReply;
  readonly body: Pick<BodyReader, "release">;
  readonly request: ReceivedRequest;
  readonly running: RunningRequests;
}

/** Runs a request and logs it. Never rejects: errors are sent as the reply. */
export async function runRoute(gateway: Gateway, untraced: Run): Promise<void> {
  const { route, reply, body, running } = untraced;
  const hasFiles = running.mayBegin();
  running.begin();
  const run = gateway.tracing ? withTrace(gateway.tracing, untraced) : untraced;
  try {
    if (!hasFiles) await refuseForFiles(run);
    await route.run(gateway, run.call, reply);
  } catch (thrown) {
    await fail(gateway, run, thrown);
  } finally {
    body.release();
    running.end();
    finish(gateway, run);
  }
}

/** Refuses a request for want of open files, before it takes any, and closes its connection, which is one. */
async function refuseForFiles({ reply, request }: Run): Promise<never> {
  reply.setHeaders({ connection: "close" });
  await discardBody(request, true);
  throw new GatewayError("too_many_files", { retryAfterS: 1 });
}

/** Sends an error as the reply, after the rest of the body where an unread rest would lose the error. */
async function fail(gateway: Gateway, { call, reply, body, request }: Run, thrown: unknown): Promise<void> {
  body.release();
  await discardBody(request);
  const error = reply.fail(thrown);
  const isDisconnected = isClientDisconnect(thrown, reply);
  if (!isDisconnected) reportRefusal(gateway, call, error);
  const code = isDisconnected ? "client_closed" : error.row.code;
  call.trace?.fail({ code, isFault: !isDisconnected && error.row.chat[0] >= 500 });
  call.record.outcome ??= code;
  if (!isDisconnected) logInternalError(gateway.log, call.id, error);
}

/** Whether the client disconnected while its body was in transit, which is not an internal error. */
function isClientDisconnect(thrown: unknown, { signal }: EndedReply): boolean {
  return signal.aborted && thrown instanceof Error && thrown.name === "AbortError";
}

/** Counts a request, writes its log line and ends its trace. */
function finish(gateway: Gateway, run: Run): void {
  const { route, call, reply } = run;
  const { surface } = route;
  const { id, startedAt, record } = call;
  const ms = gateway.clock() - startedAt;
  countRequest(gateway, { surface, call, ms });
  if (call.trace) endTrace(call.trace, run);
  gateway.log.info({ request: id, surface, status: reply.status, ms: Math.round(ms), ...record }, "request");
}

/** Begins the trace of a request. */
function withTrace(tracing: RequestTracing, run: Run): Run {
  const { route, call, request } = run;
  const { id: requestId, startedAt } = call;
  const { path, surface } = route;
  const { headers } = request;
  const begun = tracing.begin({ requestId, route: path, surface, headers, startedAt });
  call.record.traceId = begun.traceId;
  return { ...run, call: { ...call, trace: begun.steps, traceContext: begun.context } };
}

/** The request span has the fields of the log line. */
function endTrace(trace: RequestTrace, { call: { record }, reply }: Run): void {
  const { traceId: _, ...facts } = record;
  trace.end({ status: reply.status, ...facts });
}

function forwardedHeaders(wire: WireFormat, headers: Headers): Record<string, string> {
  const forwarded: Record<string, string> = {};
  for (const name of wire.forwardedHeaders) {
    const value = headers.get(name);
    if (value !== null) forwarded[name] = value;
  }
  return forwarded;
}

/** A request whose reply has ended. */
interface EndedCall {
  /** Name of the route in the log. */
  readonly surface: string;
  readonly call: Pick<Call, "record" | "progress">;
  /** From arrival to the end of the reply. */
  readonly ms: number;
}

/**
 * Counts a request in the metrics, once. A model that the catalog does not have is counted as "", because a
 * client chooses its name.
 */
export function countRequest(
  { requestMetrics, catalog }: Pick<Gateway, "requestMetrics" | "catalog">,
  { surface, call, ms }: EndedCall,
): void {
  const { record, progress } = call;
  const { requestedModel = "", settled, waitedMs } = progress;
  requestMetrics.ended({
    surface,
    isEmbedding: surface === "embeddings",
    model: record.model ?? catalog.find(requestedModel)?.id ?? "",
    upstream: record.upstream ?? "",
    code: record.outcome ?? "internal_error",
    ms,
    addedMs: Math.max(0, ms - waitedMs),
    settled,
  });
}
