import { printUsd } from "../domain/money.ts";
import type { JournalLine, RunningHold } from "../ledger/records.ts";
import { printTime } from "../time.ts";

/** Converts a transfer to JSON, for the console and the command line. A correction has a reason. */
export function printTransfer(line: JournalLine, reason?: string) {
  return {
    seq: line.seq,
    at: printTime(line.createdAtMs),
    kind: line.kind,
    id: line.transferId,
    amount_usd: printUsd(line.amount),
    balance_after_usd: printUsd(line.postedAfter),
    request_id: line.holdId ?? null,
    reason: reason ?? null,
  };
}

/** Converts a running hold to JSON, for the console and the command line. */
export function printHold(hold: RunningHold) {
  return {
    request_id: hold.holdId,
    key_id: hold.keyId,
    model: hold.model,
    granted_usd: printUsd(hold.granted),
    accrued_usd: printUsd(hold.accrued),
    created_at: printTime(hold.createdAtMs),
    expires_at: printTime(hold.expiresAtMs),
  };
}
