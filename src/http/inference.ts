import { Elysia } from "elysia";
import type { Caller } from "../accounts/key.ts";
import { countTokens } from "../gateway/count-tokens.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Call, Reply } from "../gateway/request.ts";
import { runRequest } from "../gateway/run-request.ts";
import { COUNT_PATH } from "../wire/anthropic-messages/count-tokens.ts";
import { anthropicMessages } from "../wire/anthropic-messages/protocol.ts";
import type { WireProtocol } from "../wire/protocol.ts";
import { createBodyReader, discardBody } from "./body.ts";
import { logInternalError } from "./errors.ts";
import type { HttpParts, RunningRequests } from "./http-parts.ts";
import { newRequestId, readClientRetry, readSecret } from "./identity.ts";
import type { BodySender } from "./incoming-bodies.ts";
import { createReply, type HttpReply } from "./reply.ts";

/** A route whose body names a model. */
interface ModelRoute {
  readonly path: string;
  /** Name of the route in the log. */
  readonly surface: string;
  readonly wire: WireProtocol;
  /** Processes a request. Throws `GatewayError`. */
  run(gateway: Gateway, call: Call, reply: Reply): Promise<void>;
}

/** The inference route of one protocol. All protocols share this handler. */
export function inferenceRoute(wire: WireProtocol, parts: HttpParts) {
  return modelRoute({ path: wire.path, surface: wire.surface, wire, run: runRequest }, parts);
}

/** `POST /v1/messages/count_tokens`. */
export function countTokensRoute(parts: HttpParts) {
  const wire = anthropicMessages;
  return modelRoute({ path: COUNT_PATH, surface: "count_tokens", wire, run: countTokens }, parts);
}

function modelRoute(route: ModelRoute, parts: HttpParts) {
  // `run` reads the body itself, after it has authenticated the key.
  return new Elysia().post(route.path, ({ request }) => answer(request, route, parts), { parse: "none" });
}

function answer(request: Request, route: ModelRoute, parts: HttpParts): Promise<Response> {
  const { wire } = route;
  const gateway = parts.gateway();
  const body = createBodyReader(request, parts);
  const call: Call = {
    id: newRequestId(),
    wire,
    secret: readSecret(request.headers),
    headers: forwardedHeaders(wire, request.headers),
    query: request.url.endsWith("?beta=true") ? "?beta=true" : "",
    allowsClamp: request.headers.get("x-tollgate-clamp") === "allow",
    startedAt: gateway.clock(),
    createdAtS: Math.floor(Date.now() / 1000),
    readBody: (caller) => body.read(senderOf(caller, gateway)),
    record: readClientRetry(request.headers),
  };
  const { signal } = request;
  const { connectionIdle } = parts;
  const reply = createReply({
    requestId: call.id,
    wire,
    clientHeaders: request.headers,
    signal,
    onEnd: () => (body.isRead ? connectionIdle.whileReading(request) : connectionIdle.whileWaiting(request)),
  });
  const discardRest = () => {
    body.release();
    return discardBody(request);
  };
  void runRoute(gateway, parts.running, { route, call, reply, discardRest }).finally(body.release);
  return reply.response;
}

/** Bodies in transit are bounded like concurrent requests, but by at least 1: a limit of 0 applies later. */
function senderOf({ key }: Caller, { keyLimits, accountLimits }: Gateway): BodySender {
  const keyRequestsMax = key.limits.concurrentRequests ?? keyLimits.concurrentRequests ?? Infinity;
  return {
    keyId: key.id,
    keyBodiesMax: Math.max(keyRequestsMax, 1),
    accountId: key.accountId,
    accountBodiesMax: Math.max(accountLimits.concurrentRequests ?? Infinity, 1),
  };
}

interface Run {
  readonly route: ModelRoute;
  readonly call: Call;
  readonly reply: HttpReply;
  /** Releases the bytes of the body, and discards its rest where an unread rest would lose the error. */
  discardRest(): Promise<void>;
}

/** Runs a request and logs it. Never rejects: errors are sent as the reply. */
async function runRoute(
  gateway: Gateway,
  running: RunningRequests,
  { route, call, reply, discardRest }: Run,
): Promise<void> {
  running.begin();
  try {
    await route.run(gateway, call, reply);
  } catch (thrown) {
    await discardRest();
    const error = reply.fail(thrown);
    const isDisconnected = isClientDisconnect(thrown, reply);
    call.record.outcome ??= isDisconnected ? "client_closed" : error.row.code;
    if (!isDisconnected) logInternalError(gateway.log, call.id, error);
  } finally {
    running.end();
    logRequest(gateway, { route, call, reply });
  }
}

/** Whether the client disconnected while its body was in transit, which is not an internal error. */
function isClientDisconnect(thrown: unknown, { signal }: HttpReply): boolean {
  return signal.aborted && thrown instanceof Error && thrown.name === "AbortError";
}

function logRequest({ clock, log }: Gateway, { route, call, reply }: Omit<Run, "discardRest">): void {
  const { id, startedAt, record } = call;
  const ms = Math.round(clock() - startedAt);
  log.info({ request: id, surface: route.surface, status: reply.status, ms, ...record }, "request");
}

function forwardedHeaders(wire: WireProtocol, headers: Headers): Record<string, string> {
  const forwarded: Record<string, string> = {};
  for (const name of wire.forwardedHeaders) {
    const value = headers.get(name);
    if (value !== null) forwarded[name] = value;
  }
  return forwarded;
}
