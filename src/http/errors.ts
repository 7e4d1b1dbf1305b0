import type { GatewayError } from "../errors.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Call } from "../gateway/request.ts";
import { LimiterError } from "../limiter/limiter.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import type { WireFormat } from "../wire/format.ts";
import { WIRES } from "../wire/registry.ts";
import { idHeaders, pathOf } from "./identity.ts";

/** Creates the response for an error of a request without a format of its own, by its path and headers. */
export function respondWithError(request: Request, error: GatewayError, requestId: string): Response {
  return errorResponse(error, errorWire(pathOf(request), request.headers), { requestId });
}

/**
 * Returns the format whose error envelope a path gets: that of the inference route the path is below. Other
 * paths get that of the client's SDK by its headers: Google's, or below `/v1/` Anthropic's, else the chat one.
 */
export function errorWire(path: string, headers: Headers): WireFormat {
  const wire = Object.values(WIRES).find((each) => isOf(each, path));
  if (wire) return wire;
  if (headers.has("x-goog-api-key")) return WIRES.gemini;
  return path.startsWith("/v1/") && headers.has("anthropic-version") ? WIRES.messages : WIRES.chat;
}

/** Whether a path is below the route of a format, or below another address of it. */
function isOf({ path: root, aliases = [] }: WireFormat, path: string): boolean {
  return isBelow(root, path) || aliases.some((each) => isBelow(each, path));
}

/** Whether a path is a root or below it. */
export function isBelow(root: string, path: string): boolean {
  return path === root || path.startsWith(`${root}/`);
}

/** Creates the response for an error, with status, headers and body of its row in the error table. */
export function errorResponse(
  error: GatewayError,
  wire: WireFormat,
  {
    requestId,
    headers = {},
    betas,
  }: { requestId: string; headers?: Readonly<Record<string, string>>; betas?: string | undefined },
): Response {
  const allHeaders: Record<string, string> = {
    ...headers,
    ...idHeaders(requestId),
    "content-type": "application/json",
  };
  // A status of 426 names the protocol to use instead.
  if (wire.statusOf(error) === UPGRADE_STATUS) allHeaders.upgrade = "HTTP/1.1";
  if (!error.row.retry) allHeaders["x-should-retry"] = "false";
  if (error.retryAfterS !== undefined) allHeaders["retry-after"] = String(error.retryAfterS);
  return new Response(wire.printError(error, requestId, betas), {
    status: wire.statusOf(error),
    headers: allHeaders,
  });
}

/**
 * Logs the cause of an `internal_error`, which the client does not see. Logs no other error, no shutdown, and
 * no unavailable limiter, which is logged once when it becomes unavailable.
 */
export function logInternalError(log: Log, requestId: string, error: GatewayError): void {
  if (error.row.code !== "internal_error" || error.kind.startsWith("shutting_down")) return;
  if (error.cause instanceof LimiterError) return;
  log.error({ request: requestId, ...describeFault(error.cause ?? error) }, "internal error");
}

const NOT_BUILT_STATUS = 501;
const UPGRADE_STATUS = 426;

type RefusedCall = Pick<Call, "id" | "wire" | "surface" | "record" | "progress">;

/**
 * Counts a request that was refused before it took a hold, under its key. Must be called before the error
 * becomes the outcome of the request. Errors of a request with a hold are on its receipt; a secret that was
 * never issued belongs to no account.
 */
export function reportRefusal(
  { refusals, catalog }: Pick<Gateway, "refusals" | "catalog">,
  { id: requestId, wire, surface, record, progress }: RefusedCall,
  error: GatewayError,
): void {
  if (record.outcome !== undefined || !isRefusal(error)) return;
  const { kind: cause, facts, retryAfterS, publicMessage, row } = error;
  const keyId = record.keyId ?? facts?.key?.id;
  const accountId = record.accountId ?? facts?.key?.accountId;
  if (keyId === undefined || accountId === undefined) return;
  const { requestedModel } = progress;
  const isKnown = requestedModel !== undefined && catalog.find(requestedModel) !== undefined;
  refusals.note({
    requestId,
    accountId,
    keyId,
    cause,
    model: isKnown ? requestedModel : undefined,
    requestedModel,
    surface: surface ?? wire.surface,
    text: publicMessage === row.message ? undefined : publicMessage,
    retryAfterS,
    facts,
  });
}

/** Faults of the service and of upstreams are no refusals. */
function isRefusal({ row }: GatewayError): boolean {
  const [status] = row.chat;
  return status < 500 || status === NOT_BUILT_STATUS;
}
