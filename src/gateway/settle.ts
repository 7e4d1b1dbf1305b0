import type { Nanos } from "../domain/money.ts";
import { totalTokensOf } from "../domain/usage.ts";
import type { Balances, OutcomeFacts, Settlement } from "../ledger/ledger.ts";
import type { Admission } from "../limiter/limiter.ts";
import { isRetryable, type OutboxEntry, submitEntry } from "../settlement-outbox/entry.ts";
import { type Charge, chargeFor } from "./charge.ts";
import type { Answer } from "./forward.ts";
import type { Call, Gateway } from "./gateway.ts";
import type { OpenHold } from "./hold.ts";
import { outcomeName } from "./outcome.ts";
import { reportExcess } from "./report-excess.ts";

/** How long a client waits for a ledger that is away, before its answer ends on the outbox's word. */
const ANSWER_MAX_MS = 3_000;

/** A request that is paid for. */
export interface Bill {
  /** What it cost, in the books or on its way there. */
  readonly charged: Nanos;
  /** `undefined` when the ledger is away, and the settlement in the outbox. */
  readonly balances: Balances | undefined;
}

/**
 * Books what an answer came to, frees the rest of its hold, and gives its slot and unused tokens back. Resolves
 * when that is committed or journaled.
 */
export async function settle(
  gateway: Gateway,
  call: Call,
  { hold, admission }: { hold: OpenHold; admission: Admission },
  answer: Answer,
): Promise<Bill> {
  const charge = await chargeFor(answer.outcome, hold, gateway);
  if (charge.usage) reportExcess(gateway, call, hold);
  const facts = factsOf(gateway, { call, hold, answer, charge });
  const request = { walletId: hold.walletId, holdId: hold.holdId, facts };
  const entry: OutboxEntry =
    charge.source === "none"
      ? { kind: "release", request }
      : { kind: "settle", request: { ...request, amount: charge.amount } };
  const [settlement] = await Promise.all([
    settleOrQueue(gateway, entry),
    admission.settle(charge.usage ? totalTokensOf(charge.usage) : 0),
  ]);
  return {
    charged: settlement?.captured ?? charge.amount,
    balances: settlement?.balances,
  };
}

/** `undefined` when the ledger did not take it: then it is on disk, and the ledger gets it when it is back. */
async function settleOrQueue(
  { ledger, outbox }: Gateway,
  entry: OutboxEntry,
): Promise<Settlement | undefined> {
  try {
    return await submitEntry(ledger, entry, ANSWER_MAX_MS);
  } catch (fault) {
    if (!isRetryable(fault)) throw fault;
    await outbox.append(entry);
    return undefined;
  }
}

interface Facts {
  readonly call: Call;
  readonly hold: OpenHold;
  readonly answer: Answer;
  readonly charge: Charge;
}

function factsOf({ clock }: Gateway, { call, hold, answer, charge }: Facts): OutcomeFacts {
  const { meter } = hold;
  const firstOutputMs = meter.firstOutputAt === undefined ? undefined : meter.firstOutputAt - call.startedAt;
  return {
    outcome: outcomeName(answer.outcome),
    source: charge.source,
    upstream: meter.route?.upstream,
    upstreamModel: meter.route?.upstreamModel,
    price: charge.price ?? meter.route?.price,
    usage: charge.usage,
    firstOutputMs: firstOutputMs === undefined ? undefined : Math.round(firstOutputMs),
    totalMs: Math.round(clock() - call.startedAt),
    attempts: answer.attempts,
  };
}
