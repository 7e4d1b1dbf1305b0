// One file and one closure on purpose: every rule of the oracle sums over the same few maps.
import type { Scope } from "../../src/domain/scope.ts";
import type { Command } from "../../src/ledger/core/command.ts";
import type {
  DecliningLimit,
  HoldRequest,
  SetSpendLimitRequest,
  Shortfall,
} from "../../src/ledger/ledger.ts";
import type { SpendLimit } from "../../src/ledger/records.ts";

const MOST = 4n * 10n ** 18n;
const HOUR_MS = 3_600_000;
/** The offsets of the zones from UTC in the first weeks of 2026. */
const AHEAD_MS = new Map([
  ["UTC", 0],
  ["Asia/Kathmandu", 5.75 * HOUR_MS],
  ["America/New_York", -5 * HOUR_MS],
]);

/** A hold counts against a limit, or of a template against one of its subjects, in a period. */
interface Count {
  readonly limit: string;
  readonly subject: string | undefined;
  readonly isWindow: boolean;
  /** When the period began; 0 for a total. */
  readonly from: number;
}

/** What a hold, a charge or a lost hold counts for. */
type Spends = Pick<HoldRequest, "keyId" | "scopes">;

interface OracleHold {
  /** The parameters of the hold command, as JSON. */
  readonly parameters: string;
  readonly key: string;
  readonly scopes: readonly Scope[];
  readonly granted: bigint;
  readonly takenAt: number;
  readonly ttlMs: number;
  counts: readonly Count[];
  until: number;
  accrued: bigint;
  ended: "no" | "settled" | "released" | "expired";
  booked: bigint;
  named: bigint | undefined;
  back: bigint;
  /** The metadata of the command that ended it. */
  note: object | undefined;
}

/** What a repeated hold command must have in common with the first. */
function parametersOf(
  request: Pick<HoldRequest, "keyId" | "scopes" | "amount" | "minimum" | "ttlMs" | "facts" | "metadata">,
): string {
  const { keyId, scopes = [], amount, minimum, ttlMs, facts, metadata } = request;
  return JSON.stringify([keyId, scopes, `${amount}`, `${minimum}`, ttlMs, facts, metadata]);
}

/** The expected decision: a decline, or a result. */
export type Expected =
  | { readonly declined: string; readonly shortfall?: Shortfall; readonly limit?: DecliningLimit }
  | { readonly result: Readonly<Record<string, unknown>> };

/**
 * A second implementation of the rules that recomputes every sum from the start for each command. It shares
 * no code and no running total with the first.
 */
export function createOracle() {
  let exists = false;
  let isFrozen = false;
  const holds = new Map<string, OracleHold>();
  const topUps = new Map<string, bigint>();
  const refunds = new Map<string, { hold: string; amount: bigint }>();
  const charges = new Map<string, string>();
  const limits = new Map<string, SpendLimit>();
  const owners = new Map<string, string>();

  const all = () => [...holds.values()];
  const sum = (amounts: Iterable<bigint>) => [...amounts].reduce((one, other) => one + other, 0n);
  const posted = () => sum(topUps.values()) - sum(all().map((hold) => hold.booked - hold.back));
  const held = () => sum(all().map((hold) => (hold.ended === "no" ? hold.granted : 0n)));
  const balances = () => ({ posted: posted(), held: held(), available: posted() - held() });
  const against = (count: Count) => all().filter((hold) => hold.counts.some((each) => isSame(each, count)));
  const openings: { count: Count; amount: bigint }[] = [];
  const opened = (count: Count) =>
    sum(openings.filter((each) => isSame(each.count, count)).map((each) => each.amount));
  const used = (count: Count) => sum(against(count).map((h) => h.booked - h.back)) + opened(count);
  const heldBy = (count: Count) =>
    sum(against(count).map((hold) => (hold.ended === "no" ? hold.granted : 0n)));
  /** Every count of which a hold or an opening is, some of them repeatedly. */
  const counted = () => [...all().flatMap((hold) => hold.counts), ...openings.map(({ count }) => count)];

  const overflowsWith = (counts: OracleHold["counts"], more: bigint) =>
    posted() - more < -MOST || counts.some((count) => used(count) + more > MOST);

  const end = (hold: OracleHold, how: "settled" | "released" | "expired", booked: bigint, note?: object) => {
    hold.ended = how;
    hold.booked = booked;
    hold.note = note;
  };
  /** An expiry captures the accrued amount, clamped so that no sum overflows. */
  const expire = (hold: OracleHold) => {
    const bookable = [posted() + MOST, ...hold.counts.map((each) => MOST - used(each))];
    end(
      hold,
      "expired",
      [hold.accrued, ...bookable].reduce((one, other) => (one < other ? one : other)),
    );
  };
  const countsOf = (spends: Spends, now: number): readonly Count[] =>
    [...limits.values()]
      .filter((limit) => binds(limit, spends))
      .flatMap((limit) =>
        subjectsOf(limit, spends).map((subject) => ({
          limit: limit.limitId,
          subject,
          isWindow: hoursOf(limit) !== undefined,
          from: startOf(limit, subject, now),
        })),
      );
  /** The latest window that has now in it goes on. Else none may begin that overlaps one to come: the earliest binds. */
  const startOf = (limit: SpendLimit, subject: string | undefined, now: number): number => {
    const hours = hoursOf(limit);
    if (hours === undefined) return calendarStart(limit, now);
    const near = counted().filter(
      ({ isWindow, limit: id, subject: whose, from }) =>
        isWindow && id === limit.limitId && whose === subject && Math.abs(from - now) < hours * HOUR_MS,
    );
    const present = near.filter(({ from }) => from <= now);
    if (present.length > 0) return Math.max(...present.map(({ from }) => from));
    return near.length > 0 ? Math.min(...near.map(({ from }) => from)) : now;
  };
  const settlement = (hold: OracleHold, replayed: boolean): Expected => ({
    result: {
      state: hold.ended === "no" ? "held" : hold.ended,
      captured: hold.booked,
      balances: balances(),
      replayed,
    },
  });
  const declined = (why: string): Expected => ({ declined: why });
  const isName = (name: string) => name.length >= 1 && name.length <= 128 && !name.includes("\n");
  const isTooLong = (note: object | undefined) => note && Buffer.byteLength(JSON.stringify(note)) > 4096;

  const decideHold = (request: Extract<Command, { kind: "hold" }>["request"], now: number): Expected => {
    const { holdId, keyId, amount, minimum, ttlMs, scopes = [] } = request;
    if (!isHoldName(holdId) || !isName(keyId)) return declined("invalid_id");
    if (areWrong(scopes)) return declined("invalid_scope");
    if (minimum < 0n || amount < minimum || amount > MOST || ttlMs < 1) return declined("invalid_amount");
    if (isTooLong(request.metadata)) return declined("invalid_metadata");
    if (!exists) return declined("wallet_not_found");
    const parameters = parametersOf(request);
    const before = holds.get(holdId);
    if (before && before.parameters !== parameters) return declined("conflict");
    if (before) return { result: { granted: before.granted, balances: balances(), replayed: true } };
    if (Math.abs(timeOf(holdId) - now) > 24 * HOUR_MS) return declined("invalid_id");
    if (isFrozen) return declined("wallet_frozen");

    const counts = countsOf(request, now);
    const unspent = () => counts.map((count) => (limits.get(count.limit)?.amount ?? 0n) - used(count));
    const headrooms = () =>
      counts.map((count) => (limits.get(count.limit)?.amount ?? 0n) - used(count) - heldBy(count));
    const leastOf = (amounts: readonly bigint[]) => amounts.reduce((a, b) => (a < b ? a : b));
    const headroom = () => leastOf([balances().available, ...headrooms()]);

    const undo: (() => void)[] = [];
    if (headroom() < minimum) {
      const due = all().filter(({ ended, until }) => ended === "no" && until <= now);
      for (const hold of due.toSorted((one, other) => one.until - other.until)) {
        expire(hold);
        undo.push(() => {
          hold.ended = "no";
          hold.booked = 0n;
        });
      }
    }
    if (headroom() < minimum) {
      const isOfLimit = headrooms().some((left) => left < minimum);
      const why = isOfLimit
        ? "spending_limit_exceeded"
        : posted() >= minimum
          ? "balance_on_hold"
          : "insufficient_balance";
      const orZero = (amount: bigint) => (amount < 0n ? 0n : amount);
      const shortfall = {
        needed: minimum,
        available: orZero(isOfLimit ? leastOf(headrooms()) : balances().available),
        unheld: orZero(isOfLimit ? leastOf(unspent()) : posted()),
      };
      const least = isOfLimit ? leastOf(headrooms()) : 0n;
      const tightest = counts.filter((_, index) => headrooms()[index] === least).toSorted(inOrder)[0];
      for (const step of undo) step();
      if (!isOfLimit || !tightest) return { declined: why, shortfall };
      return { declined: why, shortfall, limit: describe(tightest) };
    }
    const granted = headroom() < amount ? headroom() : amount;
    holds.set(holdId, {
      parameters,
      key: keyId,
      scopes,
      granted,
      takenAt: now,
      ttlMs,
      counts,
      until: now + ttlMs,
      accrued: 0n,
      ended: "no",
      booked: 0n,
      named: undefined,
      back: 0n,
      note: undefined,
    });
    return { result: { granted, balances: balances(), replayed: false } };
  };

  const describe = ({ limit: limitId, subject }: Count): DecliningLimit => {
    const { keyId, scope, each } = limits.get(limitId) ?? {};
    if (each && subject !== undefined) return { limitId, scope: { kind: each, id: subject } };
    return { limitId, scope: keyId === undefined ? scope : { kind: "key", id: keyId } };
  };

  const decideCharge = (request: Extract<Command, { kind: "charge" }>["request"], now: number): Expected => {
    const { chargeId, receiptId, keyId, amount, scopes = [] } = request;
    if (areWrong(scopes)) return declined("invalid_scope");
    if (amount < 1n || amount > MOST) return declined("invalid_amount");
    if (isTooLong(request.metadata)) return declined("invalid_metadata");
    if (!exists) return declined("wallet_not_found");
    const before = holds.get(charges.get(chargeId) ?? "");
    const posting = (replayed: boolean) => ({ result: { balances: balances(), replayed, receiptId } });
    if (before)
      return before.key === keyId && before.booked === amount ? posting(true) : declined("conflict");
    const counts = countsOf(request, now);
    if (overflowsWith(counts, amount)) return declined("balance_overflow");
    charges.set(chargeId, receiptId);
    holds.set(receiptId, {
      parameters: "a charge",
      key: keyId,
      scopes,
      granted: 0n,
      takenAt: now,
      ttlMs: 0,
      counts,
      until: now,
      accrued: 0n,
      ended: "settled",
      booked: amount,
      named: amount,
      back: 0n,
      note: undefined,
    });
    return posting(false);
  };

  const onHold = (holdId: string, then: (hold: OracleHold) => Expected): Expected => {
    if (!exists) return declined("wallet_not_found");
    const hold = holds.get(holdId);
    return hold ? then(hold) : declined("hold_not_found");
  };

  /** A lost hold is one that has expired: it is in the books with the command that describes and ends it. */
  const onHoldOrLost = (
    { holdId, taken }: Extract<Command, { kind: "settle" | "release" }>["request"],
    now: number,
    { owed, how }: { readonly owed: bigint; readonly how: string },
    then: (hold: OracleHold, isLost: boolean) => Expected,
  ): Expected => {
    const isLost = !holds.has(holdId) && taken && Math.abs(timeOf(holdId) - now) <= 24 * HOUR_MS;
    if (exists && taken && !holds.has(holdId) && !isLost && owed === 0n)
      return { result: { state: how, captured: 0n, balances: balances(), replayed: true } };
    if (!exists || !isLost) return onHold(holdId, (hold) => then(hold, false));
    const lost: OracleHold = {
      parameters: parametersOf({ ...taken, amount: taken.granted, minimum: taken.granted }),
      key: taken.keyId,
      scopes: taken.scopes ?? [],
      granted: taken.granted,
      takenAt: now,
      ttlMs: taken.ttlMs,
      counts: countsOf(taken, now),
      until: now,
      accrued: 0n,
      ended: "expired",
      booked: 0n,
      named: undefined,
      back: 0n,
      note: undefined,
    };
    const expected = then(lost, true);
    if ("declined" in expected) return expected;
    holds.set(holdId, lost);
    return settlement(lost, false);
  };

  /**
   * What ended in the period counts as one amount, unless the limit is a template or counts from now on. What is open
   * counts against any limit from now on. A window counts neither.
   */
  const countSoFar = (limit: SetSpendLimitRequest, now: number) => {
    if (hoursOf(limit) !== undefined) return;
    const { limitId } = limit;
    const from = calendarStart(limit, now);
    const seen = [...holds].flatMap(([id, hold]) => (timeOf(id) >= from ? [hold] : []));
    if (!limit.each && !limit.countsFromNow) {
      const bound = seen.filter((hold) => hasSpentFor(limit, { keyId: hold.key, scopes: hold.scopes }));
      const spent = sum(bound.map((hold) => hold.booked - hold.back));
      const count = { limit: limitId, subject: undefined, isWindow: false, from };
      const amount = (spent < MOST ? spent : MOST) - used(count);
      if (amount > 0n) openings.push({ count, amount });
    }
    for (const hold of seen) {
      const spends = { keyId: hold.key, scopes: hold.scopes };
      if (hold.ended !== "no" || !binds(limit, spends)) continue;
      const missing = subjectsOf(limit, spends)
        .map((subject) => ({ limit: limitId, subject, isWindow: false, from }))
        .filter((count) => !hold.counts.some((each) => isSame(each, count)));
      hold.counts = [...hold.counts, ...missing];
    }
  };

  const decide = ({ kind, request }: Command, now: number): Expected => {
    switch (kind) {
      case "create_wallet":
        exists = true;
        return { result: balances() };
      case "set_wallet_state":
        if (!exists) return declined("wallet_not_found");
        isFrozen = request.state === "frozen";
        return { result: {} };
      case "hold":
        return decideHold(request, now);
      case "charge":
        return decideCharge(request, now);
      case "extend":
        if (!isHoldName(request.holdId)) return declined("invalid_id");
        if (request.accrued < 0n || request.accrued > MOST || request.ttlMs < 1)
          return declined("invalid_amount");
        return onHold(request.holdId, (hold) => {
          if (hold.ended !== "no") return declined(`hold_${hold.ended}`);
          if (request.accrued > hold.accrued) hold.accrued = request.accrued;
          if (now + request.ttlMs > hold.until) hold.until = now + request.ttlMs;
          return { result: {} };
        });
      case "settle":
        if (!isHoldName(request.holdId)) return declined("invalid_id");
        if (request.amount < 0n || request.amount > MOST) return declined("invalid_amount");
        if (request.taken && areWrong(request.taken.scopes ?? [])) return declined("invalid_scope");
        if (request.taken && (request.taken.granted < 0n || request.taken.granted > MOST))
          return declined("invalid_amount");
        if (isTooLong(request.metadata)) return declined("invalid_metadata");
        return onHoldOrLost(request, now, { owed: request.amount, how: "settled" }, (hold) => {
          if (hold.ended === "released") return declined("hold_released");
          if (hold.ended === "settled") {
            return hold.named === request.amount ? settlement(hold, true) : declined("conflict");
          }
          const most = request.amount > hold.booked ? request.amount : hold.booked;
          if (overflowsWith(hold.counts, most - hold.booked)) return declined("balance_overflow");
          end(hold, "settled", most, request.metadata);
          hold.named = request.amount;
          return settlement(hold, false);
        });
      case "release":
        if (!isHoldName(request.holdId)) return declined("invalid_id");
        if (request.taken && areWrong(request.taken.scopes ?? [])) return declined("invalid_scope");
        if (request.taken && (request.taken.granted < 0n || request.taken.granted > MOST))
          return declined("invalid_amount");
        if (isTooLong(request.metadata)) return declined("invalid_metadata");
        return onHoldOrLost(request, now, { owed: 0n, how: "released" }, (hold, isLost) => {
          if (hold.ended === "settled") return declined("hold_settled");
          if (hold.ended !== "no" && !isLost) return settlement(hold, true);
          end(hold, "released", 0n, request.metadata);
          return settlement(hold, false);
        });
      case "expire_credits":
        return exists ? { result: {} } : declined("wallet_not_found");
      case "expire":
        return onHold(request.holdId, (hold) => {
          if (hold.ended !== "no") return settlement(hold, true);
          // The clock was set back since: the hold has its time to live from now.
          const isAhead = hold.takenAt > now + 60_000;
          if (hold.until > now && isAhead) hold.until = Math.min(hold.until, now + hold.ttlMs);
          if (hold.until > now) return settlement(hold, true);
          expire(hold);
          return settlement(hold, false);
        });
      case "top_up": {
        if (request.amount === 0n || request.amount < -MOST || request.amount > MOST)
          return declined("invalid_amount");
        if (!exists) return declined("wallet_not_found");
        const before = topUps.get(request.topUpId);
        if (before !== undefined && before !== request.amount) return declined("conflict");
        if (before !== undefined) return { result: { balances: balances(), replayed: true } };
        const after = posted() + request.amount;
        if (after > MOST || after < -MOST) return declined("balance_overflow");
        topUps.set(request.topUpId, request.amount);
        return { result: { balances: balances(), replayed: false } };
      }
      case "refund": {
        if (!isHoldName(request.holdId)) return declined("invalid_id");
        if (request.amount < 1n || request.amount > MOST) return declined("invalid_amount");
        if (!exists) return declined("wallet_not_found");
        const { refundId, holdId, amount } = request;
        const before = refunds.get(refundId);
        if (before && (before.hold !== holdId || before.amount !== amount)) return declined("conflict");
        if (before) return { result: { balances: balances(), replayed: true } };
        const hold = holds.get(holdId);
        if (!hold) return declined("hold_not_found");
        if (hold.booked - hold.back < amount) return declined("refund_exceeds_charge");
        if (posted() + amount > MOST) return declined("balance_overflow");
        hold.back += amount;
        refunds.set(refundId, { hold: holdId, amount });
        return { result: { balances: balances(), replayed: false } };
      }
      case "set_spend_limit": {
        const { limitId, keyId, scope, each } = request;
        if (scope && (keyId !== undefined || scope.kind === "parent_key" || areWrong([scope])))
          return declined("invalid_scope");
        if (request.amount < 0n || request.amount > MOST) return declined("invalid_amount");
        if (!AHEAD_MS.has(request.timeZone ?? "UTC")) return declined("invalid_time_zone");
        if (!exists) return declined("wallet_not_found");
        const owner = JSON.stringify([keyId, scope, each]);
        if (owners.has(limitId) && owners.get(limitId) !== owner) return declined("conflict");
        owners.set(limitId, owner);
        const before = limits.get(limitId);
        limits.set(limitId, request);
        const isOfSame = before?.period === request.period && before.timeZone === request.timeZone;
        if (!isOfSame) countSoFar(request, now);
        return { result: {} };
      }
      case "delete_spend_limit":
        if (!exists) return declined("wallet_not_found");
        limits.delete(request.limitId);
        return { result: {} };
    }
  };

  /** The limits that bind what spends, by id, with their amounts. A template has one for each subject. */
  const limitsOf = (spends: Spends, now: number) =>
    [...limits.values()]
      .filter((limit) => binds(limit, spends))
      .toSorted((one, other) => (one.limitId < other.limitId ? -1 : 1))
      .flatMap((limit) =>
        subjectsOf(limit, spends).map((subject) => {
          const hours = hoursOf(limit);
          const from = startOf(limit, subject, now);
          const count = { limit: limit.limitId, subject, isWindow: hours !== undefined, from };
          const { limitId, amount } = limit;
          const ofTemplate = subject === undefined ? {} : { subject };
          const shown = { limitId, amount, ...ofTemplate, used: used(count), held: heldBy(count) };
          if (hours === undefined) return shown;
          const isBegun = counted().some((each) => isSame(each, count));
          return { ...shown, resetsAtMs: isBegun ? from + hours * HOUR_MS : undefined };
        }),
      );

  return { decide, used, heldBy, counted, limitsOf, holds };
}

function isSame(one: Count, other: Count): boolean {
  const isOfSame = one.limit === other.limit && one.subject === other.subject;
  return isOfSame && one.isWindow === other.isWindow && one.from === other.from;
}

/** By limit id, then by subject. */
function inOrder(one: Count, other: Count): number {
  const [first = "", second = ""] = [one.subject, other.subject];
  if (one.limit !== other.limit) return one.limit < other.limit ? -1 : 1;
  return first < second ? -1 : 1;
}

function binds({ keyId, scope }: SpendLimit, spends: Spends): boolean {
  const has = (kind: string, id: string) =>
    (spends.scopes ?? []).some((each) => each.kind === kind && each.id === id);
  if (scope) return has(scope.kind, scope.id);
  return keyId === undefined || keyId === spends.keyId || has("parent_key", keyId);
}

/** What has no project was spent for the default one, whose id is the wallet's. */
function hasSpentFor(limit: SpendLimit, spends: Spends): boolean {
  const isOfDefault = limit.scope?.kind === "project" && limit.scope.id === limit.walletId;
  const hasProject = (spends.scopes ?? []).some(({ kind }) => kind === "project");
  return (isOfDefault && !hasProject) || binds(limit, spends);
}

function subjectsOf({ each }: SpendLimit, { keyId, scopes = [] }: Spends): readonly (string | undefined)[] {
  if (!each) return [undefined];
  return each === "key" ? [keyId] : scopes.flatMap(({ kind, id }) => (kind === each ? [id] : []));
}

/** Returns the length of a window; `undefined` for a calendar period. */
function hoursOf({ period }: SpendLimit): number | undefined {
  const hours = /^(\d+)h$/.exec(period)?.[1];
  return hours === undefined ? undefined : Number(hours);
}

function areWrong(scopes: readonly Scope[]): boolean {
  const names = scopes.map(({ kind, id }) => JSON.stringify([kind, id]));
  const isWrong = ({ kind, id }: Scope) => kind === "key" || id === "" || id.length > 256;
  return scopes.length > 16 || new Set(names).size < names.length || scopes.some(isWrong);
}

/** Whether a text is a lower-case UUIDv7, checked digit by digit. */
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

/** Returns the start of a calendar period, found by stepping days back in its zone; 0 for a total. */
function calendarStart(
  { period, timeZone = "UTC" }: Pick<SpendLimit, "period" | "timeZone">,
  atMs: number,
): number {
  if (period === "total") return 0;
  const aheadMs = AHEAD_MS.get(timeZone) ?? 0;
  const day = new Date(atMs + aheadMs);
  day.setUTCHours(0, 0, 0, 0);
  while (period === "week" && day.getUTCDay() !== 1) day.setUTCDate(day.getUTCDate() - 1);
  while (period === "month" && day.getUTCDate() !== 1) day.setUTCDate(day.getUTCDate() - 1);
  return day.getTime() - aheadMs;
}
