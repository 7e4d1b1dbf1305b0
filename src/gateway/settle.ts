import { totalTokensOf } from "../domain/usage.ts";
import { LedgerError, type OutcomeFacts, type Settlement } from "../ledger/ledger.ts";
import { type Charge, chargeFor } from "./charge.ts";
import type { Answer } from "./forward.ts";
import type { Call, Gateway } from "./gateway.ts";
import type { OpenHold } from "./hold.ts";
import { outcomeName } from "./outcome.ts";

/** Waits before asking again a ledger that was away or full; together shorter than a hold lives. */
const RETRY_MS = [50, 250, 1000, 4000];

/** A request that is paid for. */
export interface Bill {
  readonly settlement: Settlement;
  /** What the tokens-per-minute window keeps of it. */
  readonly tokens: number;
}

/** Books what an answer came to and frees the rest of its hold. Resolves when that is committed. */
export async function settle(gateway: Gateway, call: Call, hold: OpenHold, answer: Answer): Promise<Bill> {
  const charge = await chargeFor(answer.outcome, hold, gateway.tokens);
  const facts = factsOf(gateway, { call, hold, answer, charge });
  const request = { walletId: hold.walletId, holdId: hold.holdId, facts };
  const settlement = await insist(() =>
    charge.source === "none"
      ? gateway.ledger.release(request)
      : gateway.ledger.settle({ ...request, amount: charge.amount }),
  );
  return { settlement, tokens: charge.usage ? totalTokensOf(charge.usage) : 0 };
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
    price: meter.route?.price,
    usage: charge.usage,
    firstOutputMs: firstOutputMs === undefined ? undefined : Math.round(firstOutputMs),
    totalMs: Math.round(clock() - call.startedAt),
    attempts: answer.attempts,
  };
}

/** Repeats a settlement that was not applied or may not have been: its id makes that harmless. */
async function insist(book: () => Promise<Settlement>): Promise<Settlement> {
  for (const waitMs of RETRY_MS) {
    try {
      return await book();
    } catch (fault) {
      const mayPass = fault instanceof LedgerError && ["queue_full", "unavailable"].includes(fault.refusal);
      if (!mayPass) throw fault;
      await Bun.sleep(waitMs);
    }
  }
  return book();
}
