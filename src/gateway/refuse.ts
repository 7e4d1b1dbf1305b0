import type { GatewayError } from "../errors.ts";
import type { Gateway } from "./gateway.ts";
import type { Call } from "./request.ts";

const NOT_BUILT_STATUS = 501;

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
