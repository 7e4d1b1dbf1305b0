import type { Command } from "../../src/ledger/core/command.ts";
import type { Shortfall, SpendLimit } from "../../src/ledger/ledger.ts";

const MOST = 4n * 10n ** 18n;
const HOUR_MS = 3_600_000;
/** What the clocks of the zones are ahead of UTC in the first weeks of 2026. */
const AHEAD_MS = new Map([
  ["UTC", 0],
  ["Asia/Kathmandu", 5.75 * HOUR_MS],
  ["America/New_York", -5 * HOUR_MS],
]);

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
  /** What was said when it ended. */
  note: object | undefined;
}

/** What a command must come to: a refusal, or the parts of the answer that matter. */
export type Expected =
  | { readonly refused: string; readonly shortfall?: Shortfall }
  | { readonly said: Readonly<Record<string, unknown>> };

/**
 * The ledger once more, written as a story that is summed up from the beginning at every question. It
 * shares no code and no running total with the real one.
 */
export function createOracle() {
  let exists = false;
  let isFrozen = false;
  const holds = new Map<string, ToldHold>();
  const topUps = new Map<string, bigint>();
  const refunds = new Map<string, { hold: string; amount: bigint }>();
  const charges = new Map<string, string>();
  const limits = new Map<string, SpendLimit>();
  const owners = new Map<string, string | undefined>();

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

  const overflowsWith = (counts: ToldHold["counts"], more: bigint) =>
    posted() - more < -MOST || counts.some(({ limit, period }) => used(limit, period) + more > MOST);

  const end = (hold: ToldHold, how: "settled" | "released" | "expired", booked: bigint, note?: object) => {
    hold.ended = how;
    hold.booked = booked;
    hold.note = note;
  };
  /** An expiry takes what was accrued, or as much of it as any sum can still bear. */
  const expire = (hold: ToldHold) => {
    const bearable = [posted() + MOST, ...hold.counts.map((each) => MOST - used(each.limit, each.period))];
    end(
      hold,
      "expired",
      [hold.accrued, ...bearable].reduce((one, other) => (one < other ? one : other)),
    );
  };
  const countsOf = (key: string, now: number) =>
    [...limits.values()]
      .filter((limit) => limit.keyId === undefined || limit.keyId === key)
      .map((limit) => ({ limit: limit.limitId, period: nameOf(limit, now) }));
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
  const isTooLong = (note: object | undefined) => note && Buffer.byteLength(JSON.stringify(note)) > 4096;

  const askHold = (request: Extract<Command, { kind: "hold" }>["request"], now: number): Expected => {
    const { holdId, keyId, amount, minimum, ttlMs } = request;
    if (!isHoldName(holdId) || !isName(keyId)) return refused("invalid_id");
    if (minimum < 0n || amount < minimum || amount > MOST || ttlMs < 1) return refused("invalid_amount");
    if (isTooLong(request.metadata)) return refused("invalid_metadata");
    if (!exists) return refused("wallet_not_found");
    const asked = JSON.stringify([keyId, `${amount}`, `${minimum}`, ttlMs, request.facts, request.metadata]);
    const before = holds.get(holdId);
    if (before && before.asked !== asked) return refused("conflict");
    if (before) return { said: { granted: before.granted, balances: balances(), replayed: true } };
    if (Math.abs(timeOf(holdId) - now) > 24 * HOUR_MS) return refused("invalid_id");
    if (isFrozen) return refused("wallet_frozen");

    const counts = countsOf(keyId, now);
    const unspent = () =>
      counts.map(({ limit, period }) => (limits.get(limit)?.amount ?? 0n) - used(limit, period));
    const rooms = () =>
      counts.map(({ limit, period }) => {
        return (limits.get(limit)?.amount ?? 0n) - used(limit, period) - heldBy(limit, period);
      });
    const leastOf = (amounts: readonly bigint[]) => amounts.reduce((a, b) => (a < b ? a : b));
    const room = () => leastOf([balances().available, ...rooms()]);

    const undo: (() => void)[] = [];
    if (room() < minimum) {
      const due = all().filter(({ ended, until }) => ended === "no" && until <= now);
      for (const hold of due.toSorted((one, other) => one.until - other.until)) {
        expire(hold);
        undo.push(() => {
          hold.ended = "no";
          hold.booked = 0n;
        });
      }
    }
    if (room() < minimum) {
      const isOfLimit = rooms().some((left) => left < minimum);
      const why = isOfLimit
        ? "spending_limit_exceeded"
        : posted() >= minimum
          ? "balance_on_hold"
          : "insufficient_balance";
      const orNothing = (amount: bigint) => (amount < 0n ? 0n : amount);
      const shortfall = {
        needed: minimum,
        available: orNothing(isOfLimit ? leastOf(rooms()) : balances().available),
        unheld: orNothing(isOfLimit ? leastOf(unspent()) : posted()),
      };
      for (const step of undo) step();
      return { refused: why, shortfall };
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
      note: undefined,
    });
    return { said: { granted, balances: balances(), replayed: false } };
  };

  const askCharge = (request: Extract<Command, { kind: "charge" }>["request"], now: number): Expected => {
    const { chargeId, receiptId, keyId, amount } = request;
    if (amount < 1n || amount > MOST) return refused("invalid_amount");
    if (isTooLong(request.metadata)) return refused("invalid_metadata");
    if (!exists) return refused("wallet_not_found");
    const before = holds.get(charges.get(chargeId) ?? "");
    const answer = (replayed: boolean) => ({ said: { balances: balances(), replayed, receiptId } });
    if (before) return before.key === keyId && before.booked === amount ? answer(true) : refused("conflict");
    const counts = countsOf(keyId, now);
    if (overflowsWith(counts, amount)) return refused("balance_overflow");
    charges.set(chargeId, receiptId);
    holds.set(receiptId, {
      asked: "a charge",
      key: keyId,
      granted: 0n,
      takenAt: now,
      counts,
      until: now,
      accrued: 0n,
      ended: "settled",
      booked: amount,
      named: amount,
      back: 0n,
      note: undefined,
    });
    return answer(false);
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
      case "set_wallet_state":
        if (!exists) return refused("wallet_not_found");
        isFrozen = request.state === "frozen";
        return { said: {} };
      case "hold":
        return askHold(request, now);
      case "charge":
        return askCharge(request, now);
      case "extend":
        if (!isHoldName(request.holdId)) return refused("invalid_id");
        if (request.accrued < 0n || request.accrued > MOST || request.ttlMs < 1)
          return refused("invalid_amount");
        return onHold(request.holdId, (hold) => {
          if (hold.ended !== "no") return refused(`hold_${hold.ended}`);
          if (request.accrued > hold.accrued) hold.accrued = request.accrued;
          if (now + request.ttlMs > hold.until) hold.until = now + request.ttlMs;
          return { said: {} };
        });
      case "settle":
        if (!isHoldName(request.holdId)) return refused("invalid_id");
        if (request.amount < 0n || request.amount > MOST) return refused("invalid_amount");
        if (isTooLong(request.metadata)) return refused("invalid_metadata");
        return onHold(request.holdId, (hold) => {
          if (hold.ended === "released") return refused("hold_released");
          if (hold.ended === "settled") {
            return hold.named === request.amount ? settlement(hold, true) : refused("conflict");
          }
          const most = request.amount > hold.booked ? request.amount : hold.booked;
          if (overflowsWith(hold.counts, most - hold.booked)) return refused("balance_overflow");
          end(hold, "settled", most, request.metadata);
          hold.named = request.amount;
          return settlement(hold, false);
        });
      case "release":
        if (!isHoldName(request.holdId)) return refused("invalid_id");
        if (isTooLong(request.metadata)) return refused("invalid_metadata");
        return onHold(request.holdId, (hold) => {
          if (hold.ended === "settled") return refused("hold_settled");
          if (hold.ended !== "no") return settlement(hold, true);
          end(hold, "released", 0n, request.metadata);
          return settlement(hold, false);
        });
      case "expire":
        return onHold(request.holdId, (hold) => {
          if (hold.ended !== "no" || hold.until > now) return settlement(hold, true);
          expire(hold);
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
        if (!isHoldName(request.holdId)) return refused("invalid_id");
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
        const { limitId, keyId } = request;
        if (request.amount < 0n || request.amount > MOST) return refused("invalid_amount");
        if (!AHEAD_MS.has(request.timeZone ?? "UTC")) return refused("invalid_time_zone");
        if (!exists) return refused("wallet_not_found");
        if (owners.has(limitId) && owners.get(limitId) !== keyId) return refused("conflict");
        owners.set(limitId, keyId);
        limits.set(limitId, request);
        return { said: {} };
      }
      case "delete_spend_limit":
        if (!exists) return refused("wallet_not_found");
        limits.delete(request.limitId);
        return { said: {} };
    }
  };

  return { ask, balances, used, heldBy, limits, nameOf, holds };
}

/** Whether a name is made as the seventh kind of UUID is, digit by digit. */
function isHoldName(name: string): boolean {
  const parts = name.split("-");
  const [, , version = "", variant = ""] = parts;
  return (
    parts.map(({ length }) => length).join() === "8,4,4,4,12" &&
    [...parts.join("")].every((digit) => "0123456789abcdef".includes(digit)) &&
    version.startsWith("7") &&
    "89ab".includes(variant.charAt(0))
  );
}

function timeOf(holdId: string): number {
  return Number(`0x${holdId.replaceAll("-", "").slice(0, 12)}`);
}

/** The instant that a calendar period starts at, by walking the calendar of its zone back. */
function nameOf({ period, timeZone = "UTC" }: Pick<SpendLimit, "period" | "timeZone">, atMs: number): string {
  if (period === "total") return "ever";
  const aheadMs = AHEAD_MS.get(timeZone) ?? 0;
  const day = new Date(atMs + aheadMs);
  day.setUTCHours(0, 0, 0, 0);
  while (period === "week" && day.getUTCDay() !== 1) day.setUTCDate(day.getUTCDate() - 1);
  while (period === "month" && day.getUTCDate() !== 1) day.setUTCDate(day.getUTCDate() - 1);
  return new Date(day.getTime() - aheadMs).toISOString();
}
