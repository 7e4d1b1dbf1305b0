import { Metadata, type StatusObject } from "@grpc/grpc-js";
import { NANOS_MAX, type Nanos } from "../../domain/money.ts";
import type { Any } from "../../gen/google/protobuf/Any.ts";
import type { BadRequest, BadRequest__Output } from "../../gen/google/rpc/BadRequest.ts";
import type { ErrorInfo, ErrorInfo__Output } from "../../gen/google/rpc/ErrorInfo.ts";
import type {
  PreconditionFailure,
  PreconditionFailure__Output,
} from "../../gen/google/rpc/PreconditionFailure.ts";
import type { QuotaFailure, QuotaFailure__Output } from "../../gen/google/rpc/QuotaFailure.ts";
import type { ResourceInfo, ResourceInfo__Output } from "../../gen/google/rpc/ResourceInfo.ts";
import type { RetryInfo, RetryInfo__Output } from "../../gen/google/rpc/RetryInfo.ts";
import type { Status, Status__Output } from "../../gen/google/rpc/Status.ts";
import { LedgerError, type Shortfall } from "../../ledger/ledger.ts";
import { messageType } from "../service.ts";
import { encodeDuration } from "./fields.ts";
import { type DetailKind, isRefusal, REASONS, type Reason } from "./reasons.ts";

const DOMAIN = "tollgate.ledger";
const DETAILS_KEY = "grpc-status-details-bin";
const RETRY_MS = 100;

const statusType = messageType<Status, Status__Output>("google.rpc.Status");
const errorInfo = detailType<ErrorInfo, ErrorInfo__Output>("ErrorInfo");
const badRequest = detailType<BadRequest, BadRequest__Output>("BadRequest");
const precondition = detailType<PreconditionFailure, PreconditionFailure__Output>("PreconditionFailure");
const quota = detailType<QuotaFailure, QuotaFailure__Output>("QuotaFailure");
const resourceInfo = detailType<ResourceInfo, ResourceInfo__Output>("ResourceInfo");
const retryInfo = detailType<RetryInfo, RetryInfo__Output>("RetryInfo");

/** What a refusal is about, as far as that is known. */
export interface About {
  /** The path of the field at fault. */
  readonly field?: string | undefined;
  /** "wallets/W/holds/H" */
  readonly resource?: string | undefined;
  /** The amounts of a hold that was declined for lack of money. */
  readonly shortfall?: Shortfall | undefined;
}

/** A reason as `google.rpc.Status`: of one mutation among others. */
export function encodeRefusal(reason: Reason, about: About = {}): Status {
  const { code, says, detail } = REASONS[reason];
  const metadata = about.shortfall && encodeShortfall(about.shortfall);
  const info = errorInfo.pack({
    reason: reason.toUpperCase(),
    domain: DOMAIN,
    ...(metadata && { metadata }),
  });
  return { code, message: says, details: detail ? [info, DETAILS[detail](reason, about)] : [info] };
}

/** A reason as the status of a call. */
export function encodeCallRefusal(
  reason: Reason,
  about?: About,
): Pick<StatusObject, "code" | "details" | "metadata"> {
  const metadata = new Metadata();
  metadata.set(DETAILS_KEY, statusType.serialize(encodeRefusal(reason, about)));
  return { code: REASONS[reason].code, details: REASONS[reason].says, metadata };
}

/**
 * The ledger's own refusal in a status; `undefined` when the status is none of the ledger's, as when the
 * connection is lost. What the ledger could not do for another reason than its rules is `unavailable`.
 */
export function readRefusal({ details }: Status__Output): LedgerError | undefined {
  for (const each of details) {
    const info = errorInfo.unpack(each);
    if (info?.domain !== DOMAIN) continue;
    const word = info.reason.toLowerCase();
    return isRefusal(word)
      ? new LedgerError(word, undefined, decodeShortfall(info.metadata))
      : new LedgerError("unavailable", info.reason);
  }
  return undefined;
}

/** The same, of the status of a call. */
export function readCallRefusal(metadata: Metadata | undefined): LedgerError | undefined {
  const [bytes] = metadata?.get(DETAILS_KEY) ?? [];
  if (!(bytes instanceof Buffer)) return undefined;
  try {
    return readRefusal(statusType.deserialize(bytes));
  } catch {
    return undefined;
  }
}

const DETAILS: Readonly<Record<DetailKind, (reason: Reason, about: About) => Any>> = {
  bad_request: (reason, { field = "" }) =>
    badRequest.pack({ fieldViolations: [{ field, description: REASONS[reason].says }] }),
  precondition: (reason, { resource = "" }) =>
    precondition.pack({
      violations: [{ type: reason.toUpperCase(), subject: resource, description: REASONS[reason].says }],
    }),
  quota: (reason, { resource = "" }) =>
    quota.pack({ violations: [{ subject: resource, description: REASONS[reason].says }] }),
  resource: (reason, { resource = "" }) =>
    resourceInfo.pack({
      resourceType: `${DOMAIN}/${resourceTypeOf(resource)}`,
      resourceName: resource,
      description: REASONS[reason].says,
    }),
  retry: () => retryInfo.pack({ retryDelay: encodeDuration(RETRY_MS) }),
};

/** "Charge" of "wallets/W/charges/C". */
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
    pack: (message: Message): Any => ({ type_url: url, value: type.serialize(message) }),
    /** `undefined` when it is a detail of another type, or cannot be read. */
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

/** The names of the amounts in the metadata of `google.rpc.ErrorInfo`; each is whole nano-USD in decimal digits. */
const NAMES = { needed: "needed_nanos", available: "available_nanos", unheld: "unheld_nanos" } as const;

/** Encodes the amounts of a declined hold as the metadata of `google.rpc.ErrorInfo`. */
export function encodeShortfall({ needed, available, unheld }: Shortfall): Record<string, string> {
  return {
    [NAMES.needed]: String(needed),
    [NAMES.available]: String(available),
    [NAMES.unheld]: String(unheld),
  };
}

/** Returns `undefined` unless all three amounts are there, each from 0 to {@link NANOS_MAX}. */
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
