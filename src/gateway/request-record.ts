import type { Caller } from "../accounts/key.ts";
import { printUsd } from "../domain/money.ts";
import type { Answer } from "./forward.ts";
import type { OpenHold } from "./hold.ts";
import { outcomeName } from "./request.ts";
import type { Bill } from "./settle.ts";

/** One line of the request log, filled in as things become known. Holds no secret and no text of anybody. */
export interface RequestRecord {
  /** Which repetition of a failed request its client says this is, from 1. */
  clientRetry?: number;
  keyId?: string;
  accountId?: string;
  model?: string;
  upstream?: string | undefined;
  attempts?: number;
  /** `ok`, a code of the error contract, or `client_closed`. */
  outcome?: string;
  chargedUsd?: string;
  /** Whether the upstream reported a usage that cannot be counted, so that it was counted here. */
  disbelieved?: true;
  /** Whether the upstream reported more than the request allows for, so that less was charged. */
  aboveBound?: true;
  /** Whether the ledger was away when it ended. */
  journaled?: true;
}

export function recordCaller(record: RequestRecord, { key }: Caller): void {
  record.keyId = key.id;
  record.accountId = key.accountId;
}

export function recordAnswer(record: RequestRecord, hold: OpenHold, answer: Answer, bill: Bill): void {
  record.model = hold.quote.model.id;
  record.upstream = hold.meter.route?.upstream;
  record.attempts = answer.attempts.length;
  record.outcome = outcomeName(answer.outcome);
  record.chargedUsd = printUsd(bill.charged);
  if (hold.meter.disbelieves) record.disbelieved = true;
  if (!bill.balances) record.journaled = true;
}
