import { Elysia } from "elysia";
import type { Call, Gateway } from "../gateway/gateway.ts";
import { runRequest } from "../gateway/run-request.ts";
import type { WireProtocol } from "../wire/wire-protocol.ts";
import { errorWire } from "./error-response.ts";
import type { HttpParts } from "./http-parts.ts";
import { logInternal } from "./log-internal.ts";
import { createBodyReader } from "./read-body.ts";
import { createReply, type HttpReply } from "./reply.ts";
import { newRequestId } from "./request-id.ts";
import type { RunningRequests } from "./running-requests.ts";
import { readSecret } from "./secret.ts";

/** The route of one protocol. Every protocol has this same handler. */
export function inferenceRoute(wire: WireProtocol, parts: HttpParts) {
  // The body is read by the story itself, after the key is known.
  return new Elysia().post(wire.path, ({ request }) => answer(request, wire, parts), { parse: "none" });
}

function answer(request: Request, wire: WireProtocol, parts: HttpParts): Promise<Response> {
  const gateway = parts.gateway();
  const body = createBodyReader(request, parts.bodyBudget);
  const call: Call = {
    id: newRequestId(),
    wire,
    secret: readSecret(request.headers),
    headers: forwardedHeaders(wire, request.headers),
    query: request.url.endsWith("?beta=true") ? "?beta=true" : "",
    allowsClamp: request.headers.get("x-tollgate-clamp") === "allow",
    startedAt: gateway.clock(),
    createdAtS: Math.floor(Date.now() / 1000),
    readBody: body.read,
    record: {},
  };
  const { signal } = request;
  const reply = createReply({
    requestId: call.id,
    wire,
    errorWire: errorWire(wire.path, request.headers),
    signal,
    onEnd: () => parts.letIdle(request),
  });
  void run(gateway, parts.running, { call, reply }).finally(body.release);
  return reply.response;
}

/** Never rejects: whatever goes wrong is said in the reply. */
async function run(
  gateway: Gateway,
  running: RunningRequests,
  { call, reply }: { call: Call; reply: HttpReply },
): Promise<void> {
  running.begin();
  try {
    await runRequest(gateway, call, reply);
  } catch (thrown) {
    const error = reply.fail(thrown);
    const hungUp = isHangUp(thrown, reply);
    call.record.outcome ??= hungUp ? "client_closed" : error.row.code;
    if (!hungUp) logInternal(gateway.log, call.id, error);
  } finally {
    running.end();
    logRequest(gateway, call, reply);
  }
}

/** A client that went away while its body was still coming: no fault of anybody. */
function isHangUp(thrown: unknown, { signal }: HttpReply): boolean {
  return signal.aborted && thrown instanceof Error && thrown.name === "AbortError";
}

function logRequest(
  { clock, log }: Gateway,
  { id, wire, startedAt, record }: Call,
  { status }: HttpReply,
): void {
  const ms = Math.round(clock() - startedAt);
  log.info({ request: id, surface: wire.surface, status, ms, ...record }, "request");
}

function forwardedHeaders(wire: WireProtocol, headers: Headers): Record<string, string> {
  const forwarded: Record<string, string> = {};
  for (const name of wire.forwardedHeaders) {
    const value = headers.get(name);
    if (value !== null) forwarded[name] = value;
  }
  return forwarded;
}
