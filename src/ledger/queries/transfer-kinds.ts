import { ACCOUNTS, TRANSFER_KINDS } from "../core/book.ts";
import { LedgerError } from "../ledger.ts";
import type { TransferKindName } from "../records.ts";

/** Of transfers into the wallet; one out of it is a correction where it is none of the others. */
export const KIND_NAMES: ReadonlyMap<number, TransferKindName> = new Map<number, TransferKindName>([
  [TRANSFER_KINDS.topUp, "top_up"],
  [TRANSFER_KINDS.settlement, "settlement"],
  [TRANSFER_KINDS.expiryCapture, "expiry_capture"],
  [TRANSFER_KINDS.lateSettlement, "late_settlement"],
  [TRANSFER_KINDS.refund, "refund"],
  [TRANSFER_KINDS.charge, "charge"],
]);

/** What transfers of some kinds match, and whether there is an index of them. */
export interface KindsWanted {
  readonly condition: string;
  readonly isFew: boolean;
}

/** `undefined` for every kind. Throws `invalid_query` for a kind that is none. */
export function selectKinds(kinds: readonly TransferKindName[] = []): KindsWanted | undefined {
  if (kinds.length === 0) return undefined;
  const conditions = kinds.map((kind) => KIND_CONDITIONS[kind]);
  if (conditions.some((condition) => condition === undefined)) throw new LedgerError("invalid_query");
  const isFew = kinds.every((kind) => FEW.has(kind));
  const few = isFew ? `${FEW_CONDITION} AND ` : "";
  return { condition: `${few}(${conditions.join(" OR ")})`, isFew };
}

const KIND_CONDITIONS: Readonly<Record<TransferKindName, string>> = {
  top_up: `(kind = ${TRANSFER_KINDS.topUp} AND credit_account = ${ACCOUNTS.wallet})`,
  correction: `(kind = ${TRANSFER_KINDS.topUp} AND credit_account <> ${ACCOUNTS.wallet})`,
  settlement: `kind = ${TRANSFER_KINDS.settlement}`,
  expiry_capture: `kind = ${TRANSFER_KINDS.expiryCapture}`,
  late_settlement: `kind = ${TRANSFER_KINDS.lateSettlement}`,
  refund: `kind = ${TRANSFER_KINDS.refund}`,
  charge: `kind = ${TRANSFER_KINDS.charge}`,
};

const FEW: ReadonlySet<TransferKindName> = new Set(["top_up", "correction", "refund"]);
/** That of their index. */
const FEW_CONDITION = `kind IN (${TRANSFER_KINDS.topUp}, ${TRANSFER_KINDS.refund})`;
