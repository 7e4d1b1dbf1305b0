import type { Command } from "../../src/ledger/command.ts";
import type { LimitPeriod, SpendLimit } from "../../src/ledger/ledger.ts";

const MOST = 4n * 10n ** 18n;

interface ToldHold {
  readonly asked: string;
  readonly key: string;
  readonly granted: bigint;
  readonly takenAt: number;
  /** Limits it counts against, each with the name of its period then. */
  readonly counts: readonly { readonly limit: string; readonly period: string }[];
  until: number;
  accrued: bigint;
  ended: "no" | "settled" | "released" | "expired";
  booked: bigint;
  named: bigint | undefined;
  back: bigint;
}

/** What a command must come to: a refusal, or the parts of the answer that matter. */
export type Expected = { readonly refused: string } | { readonly said: Readonly<Record<string, unknown>> };

/**
 * The ledger once more, written as a story that is summed up from the beginning at every question. It
 * shares no code and no running total with the real one.
 */
export function createOracle() {
  let exists = false;
  const holds = new Map<string, ToldHold>();
  const topUps = new Map<string, bigint>();
  const refunds = new Map<string, { hold: string; amount: bigint }>();
  const limits = new Map<string, SpendLimit>();

  const all = () => [...holds.values()];
  const sum = (amounts: Iterable<bigint>) => [...amounts].reduce((one, other) => one + other, 0n);
  const posted = () => sum(topUps.values()) - sum(all().map((hold) => hold.booked - hold.back));
  const held = () => sum(all().map((hold) => (hold.ended === "no" ? hold.granted : 0n)));
  const balances = () => ({ posted: posted(), held: held(), available: posted() - held() });
  const against = (limit: string, period: string) =>
    all().filter((hold) => hold.counts.some((each) => each.limit === limit && each.period === period));
  const used = (limit: string, period: string) => sum(against(limit, period).map((h) => h.booked - h.back));
  const heldBy = (limit: string, period: string) =>
    sum(against(limit, period).map((hold) => (hold.ended === "no" ? hold.granted : 0n)));

  const overflowsWith = (hold: ToldHold, more: bigint) =>
    posted() - more < -MOST || hold.counts.some(({ limit, period }) => used(limit, period) + more > MOST);

  const end = (hold: ToldHold, how: "settled" | "released" | "expired", booked: bigint) => {
    hold.ended = how;
    hold.booked = booked;
  };
  const settlement = (hold: ToldHold, replayed: boolean): Expected => ({
    said: {
      state: hold.ended === "no" ? "held" : hold.ended,
      captured: hold.booked,
      balances: balances(),
      replayed,
    },
  });
  const refused = (why: string): Expected => ({ refused: why });
  const isName = (name: string) => name.length >= 1 && name.length <= 128 && !name.includes("\n");

  const askHold = (request: Extract<Command, { kind: "hold" }>["request"], now: number): Expected => {
    const { holdId, keyId, amount, minimum, ttlMs } = request;
    if (![holdId, keyId].every(isName)) return refused("invalid_id");
    if (minimum < 0n || amount < minimum || amount > MOST || ttlMs < 1) return refused("invalid_amount");
    if (!exists) return refused("wallet_not_found");
    const asked = JSON.stringify([keyId, `${amount}`, `${minimum}`, ttlMs, request.facts, request.metadata]);
    const before = holds.get(holdId);
    if (before && before.asked !== asked) return refused("conflict");
    if (before) return { said: { granted: before.granted, balances: balances(), replayed: true } };

    const mine = [...limits.values()].filter((limit) => (limit.keyId ?? keyId) === keyId);
    const counts = mine.map((limit) => ({ limit: limit.limitId, period: nameOf(limit.period, now) }));
    const rooms = () =>
      mine.map(
        (m) => m.amount - used(m.limitId, nameOf(m.period, now)) - heldBy(m.limitId, nameOf(m.period, now)),
      );
    const room = () => [balances().available, ...rooms()].reduce((a, b) => (a < b ? a : b));

    const undo: (() => void)[] = [];
    if (room() < minimum) {
      for (const hold of all().filter(({ ended, until }) => ended === "no" && until <= now)) {
        if (overflowsWith(hold, hold.accrued)) continue;
        end(hold, "expired", hold.accrued);
        undo.push(() => {
          hold.ended = "no";
          hold.booked = 0n;
        });
      }
    }
    if (room() < minimum) {
      const why = rooms().some((left) => left < minimum)
        ? "spending_limit_exceeded"
        : posted() >= minimum
          ? "balance_on_hold"
          : "insufficient_balance";
      for (const step of undo) step();
      return refused(why);
    }
    const granted = room() < amount ? room() : amount;
    holds.set(holdId, {
      asked,
      key: keyId,
      granted,
      takenAt: now,
      counts,
      until: now + ttlMs,
      accrued: 0n,
      ended: "no",
      booked: 0n,
      named: undefined,
      back: 0n,
    });
    return { said: { granted, balances: balances(), replayed: false } };
  };

  const onHold = (holdId: string, then: (hold: ToldHold) => Expected): Expected => {
    if (!exists) return refused("wallet_not_found");
    const hold = holds.get(holdId);
    return hold ? then(hold) : refused("hold_not_found");
  };

  const ask = ({ kind, request }: Command, now: number): Expected => {
    switch (kind) {
      case "create_wallet":
        exists = true;
        return { said: balances() };
      case "hold":
        return askHold(request, now);
      case "extend":
        if (request.accrued < 0n || request.accrued > MOST || request.ttlMs < 1)
          return refused("invalid_amount");
        return onHold(request.holdId, (hold) => {
          if (hold.ended !== "no") return refused(`hold_${hold.ended}`);
          if (request.accrued > hold.accrued) hold.accrued = request.accrued;
          if (now + request.ttlMs > hold.until) hold.until = now + request.ttlMs;
          return { said: {} };
        });
      case "settle":
        if (request.amount < 0n || request.amount > MOST) return refused("invalid_amount");
        return onHold(request.holdId, (hold) => {
          if (hold.ended === "released") return refused("hold_released");
          if (hold.ended === "settled") {
            return hold.named === request.amount ? settlement(hold, true) : refused("conflict");
          }
          const most = request.amount > hold.booked ? request.amount : hold.booked;
          if (overflowsWith(hold, most - hold.booked)) return refused("balance_overflow");
          end(hold, "settled", most);
          hold.named = request.amount;
          return settlement(hold, false);
        });
      case "release":
        return onHold(request.holdId, (hold) => {
          if (hold.ended === "settled") return refused("hold_settled");
          if (hold.ended !== "no") return settlement(hold, true);
          end(hold, "released", 0n);
          return settlement(hold, false);
        });
      case "expire":
        return onHold(request.holdId, (hold) => {
          if (hold.ended !== "no" || hold.until > now) return settlement(hold, true);
          if (overflowsWith(hold, hold.accrued)) return refused("balance_overflow");
          end(hold, "expired", hold.accrued);
          return settlement(hold, false);
        });
      case "top_up": {
        if (request.amount < 1n || request.amount > MOST) return refused("invalid_amount");
        if (!exists) return refused("wallet_not_found");
        const before = topUps.get(request.topUpId);
        if (before !== undefined && before !== request.amount) return refused("conflict");
        if (before !== undefined) return { said: { balances: balances(), replayed: true } };
        if (posted() + request.amount > MOST) return refused("balance_overflow");
        topUps.set(request.topUpId, request.amount);
        return { said: { balances: balances(), replayed: false } };
      }
      case "refund": {
        if (request.amount < 1n || request.amount > MOST) return refused("invalid_amount");
        if (!exists) return refused("wallet_not_found");
        const { refundId, holdId, amount } = request;
        const before = refunds.get(refundId);
        if (before && (before.hold !== holdId || before.amount !== amount)) return refused("conflict");
        if (before) return { said: { balances: balances(), replayed: true } };
        const hold = holds.get(holdId);
        if (!hold) return refused("hold_not_found");
        if (hold.booked - hold.back < amount) return refused("refund_exceeds_charge");
        if (posted() + amount > MOST) return refused("balance_overflow");
        hold.back += amount;
        refunds.set(refundId, { hold: holdId, amount });
        return { said: { balances: balances(), replayed: false } };
      }
      case "set_spend_limit": {
        if (request.amount < 0n || request.amount > MOST) return refused("invalid_amount");
        if (!exists) return refused("wallet_not_found");
        const before = limits.get(request.limitId);
        if (before && before.keyId !== request.keyId) return refused("conflict");
        limits.set(request.limitId, request);
        return { said: {} };
      }
    }
  };

  return { ask, balances, used, heldBy, limits, nameOf };
}

/** The start of a calendar period as a date, by walking the calendar back. */
function nameOf(period: LimitPeriod, atMs: number): string {
  if (period === "total") return "ever";
  const day = new Date(atMs);
  day.setUTCHours(0, 0, 0, 0);
  while (period === "week" && day.getUTCDay() !== 1) day.setUTCDate(day.getUTCDate() - 1);
  while (period === "month" && day.getUTCDate() !== 1) day.setUTCDate(day.getUTCDate() - 1);
  return day.toISOString();
}
