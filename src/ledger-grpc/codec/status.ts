import { Metadata, type StatusObject } from "@grpc/grpc-js";
import { NANOS_MAX, type Nanos } from "../../domain/money.ts";
import type * as Proto from "../../gen/messages.ts";
import { type DecliningLimit, LedgerError, type Shortfall } from "../../ledger/ledger.ts";
import { messageType } from "../service.ts";
import { encodeDuration } from "./fields.ts";
import { type DetailKind, isLedgerReason, REASONS, type Reason } from "./reasons.ts";
import { decodeDecliningLimit, encodeDecliningLimit } from "./scopes.ts";

const DOMAIN = "tollgate.ledger";
const DETAILS_KEY = "grpc-status-details-bin";
const RETRY_MS = 100;

const statusType = messageType<Proto.Status, Proto.Status__Output>("google.rpc.Status");
const errorInfo = detailType<Proto.ErrorInfo, Proto.ErrorInfo__Output>("ErrorInfo");
const badRequest = detailType<Proto.BadRequest, Proto.BadRequest__Output>("BadRequest");
const precondition = detailType<Proto.PreconditionFailure, Proto.PreconditionFailure__Output>(
  "PreconditionFailure",
);
const quota = detailType<Proto.QuotaFailure, Proto.QuotaFailure__Output>("QuotaFailure");
const resourceInfo = detailType<Proto.ResourceInfo, Proto.ResourceInfo__Output>("ResourceInfo");
const retryInfo = detailType<Proto.RetryInfo, Proto.RetryInfo__Output>("RetryInfo");

/** The field, resource and amounts that an error concerns, where known. */
export interface ErrorSubject {
  /** The path of the bad field. */
  readonly field?: string | undefined;
  /** "wallets/W/holds/H" */
  readonly resource?: string | undefined;
  /** The amounts of a hold that was declined for lack of money. */
  readonly shortfall?: Shortfall | undefined;
  /** The limit that declined the hold. */
  readonly limit?: DecliningLimit | undefined;
}

/**
 * Encodes an error as the `google.rpc.Status` of one mutation.
 *
 * @see https://google.aip.dev/193
 */
export function encodeError(reason: Reason, subject: ErrorSubject = {}): Proto.Status {
  const { code, message, detail } = REASONS[reason];
  const { shortfall, limit } = subject;
  const metadata = {
    ...(shortfall && encodeShortfall(shortfall)),
    ...(limit && encodeDecliningLimit(limit)),
  };
  const info = errorInfo.pack({ reason: reason.toUpperCase(), domain: DOMAIN, metadata });
  return { code, message, details: detail ? [info, DETAILS[detail](reason, subject)] : [info] };
}

/** Encodes an error as the status of a call. */
export function encodeCallError(
  reason: Reason,
  subject?: ErrorSubject,
): Pick<StatusObject, "code" | "details" | "metadata"> {
  const metadata = new Metadata();
  metadata.set(DETAILS_KEY, statusType.serialize(encodeError(reason, subject)));
  return { code: REASONS[reason].code, details: REASONS[reason].message, metadata };
}

/**
 * Returns the ledger's error in a status. Returns `undefined` for a status that the ledger did not set, such
 * as that of a lost connection. A reason of the server, such as `internal`, becomes `unavailable`.
 */
export function decodeError({ details }: Proto.Status__Output): LedgerError | undefined {
  for (const each of details) {
    const info = errorInfo.unpack(each);
    if (info?.domain !== DOMAIN) continue;
    const reason = info.reason.toLowerCase();
    return isLedgerReason(reason)
      ? new LedgerError(
          reason,
          undefined,
          decodeShortfall(info.metadata),
          decodeDecliningLimit(info.metadata),
        )
      : new LedgerError("unavailable", info.reason);
  }
  return undefined;
}

/** Like {@link decodeError}, for the metadata of a call's status. */
export function decodeCallError(metadata: Metadata | undefined): LedgerError | undefined {
  const [bytes] = metadata?.get(DETAILS_KEY) ?? [];
  if (!(bytes instanceof Buffer)) return undefined;
  try {
    return decodeError(statusType.deserialize(bytes));
  } catch {
    return undefined;
  }
}

const DETAILS: Readonly<Record<DetailKind, (reason: Reason, subject: ErrorSubject) => Proto.Any>> = {
  bad_request: (reason, { field = "" }) =>
    badRequest.pack({ fieldViolations: [{ field, description: REASONS[reason].message }] }),
  precondition: (reason, { resource = "" }) =>
    precondition.pack({
      violations: [{ type: reason.toUpperCase(), subject: resource, description: REASONS[reason].message }],
    }),
  quota: (reason, { resource = "" }) =>
    quota.pack({ violations: [{ subject: resource, description: REASONS[reason].message }] }),
  resource: (reason, { resource = "" }) =>
    resourceInfo.pack({
      resourceType: `${DOMAIN}/${resourceTypeOf(resource)}`,
      resourceName: resource,
      description: REASONS[reason].message,
    }),
  retry: () => retryInfo.pack({ retryDelay: encodeDuration(RETRY_MS) }),
};

/** Returns "Charge" for "wallets/W/charges/C". */
function resourceTypeOf(resource: string): string {
  const collection = resource.split("/").at(-2) ?? "";
  return RESOURCE_TYPES[collection] ?? "Wallet";
}

const RESOURCE_TYPES: Readonly<Record<string, string>> = Object.freeze({
  holds: "Hold",
  charges: "Charge",
  topUps: "TopUp",
  refunds: "Refund",
  limits: "SpendLimit",
});

function detailType<Message extends object, Output extends object>(name: string) {
  const type = messageType<Message, Output>(`google.rpc.${name}`);
  const url = `type.googleapis.com/google.rpc.${name}`;
  return {
    pack: (message: Message): Proto.Any => ({ type_url: url, value: type.serialize(message) }),
    /** Returns `undefined` for a detail of another type, or one that cannot be decoded. */
    unpack(any: { readonly type_url: string; readonly value: Buffer }): Output | undefined {
      if (any.type_url !== url) return undefined;
      try {
        return type.deserialize(any.value);
      } catch {
        return undefined;
      }
    },
  };
}

/** The keys in the metadata of `google.rpc.ErrorInfo`; each value is whole nano-USD in decimal digits. */
const NAMES = { needed: "needed_nanos", available: "available_nanos", unheld: "unheld_nanos" } as const;

/** Encodes the amounts of a declined hold. */
function encodeShortfall({ needed, available, unheld }: Shortfall): Record<string, string> {
  return {
    [NAMES.needed]: String(needed),
    [NAMES.available]: String(available),
    [NAMES.unheld]: String(unheld),
  };
}

/**
 * Decodes the amounts of a declined hold. Returns `undefined` unless all three are present and from 0 to
 * {@link NANOS_MAX}.
 */
export function decodeShortfall(metadata: Readonly<Record<string, string>>): Shortfall | undefined {
  const needed = decodeAmount(metadata[NAMES.needed]);
  const available = decodeAmount(metadata[NAMES.available]);
  const unheld = decodeAmount(metadata[NAMES.unheld]);
  if (needed === undefined || available === undefined || unheld === undefined) return undefined;
  return { needed, available, unheld };
}

function decodeAmount(text: string | undefined): Nanos | undefined {
  if (text === undefined || !/^\d{1,19}$/.test(text)) return undefined;
  const amount = BigInt(text);
  return amount <= NANOS_MAX ? amount : undefined;
}
