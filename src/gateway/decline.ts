import type { Caller } from "../accounts/keys/key.ts";
import { leastOf, type Nanos, printUsd } from "../domain/money.ts";
import type { Scope, ScopeKind } from "../domain/scope.ts";
import { TenantMemory } from "../domain/tenant-memory.ts";
import type { Bound, Cause } from "../errors.ts";
import { type DecliningLimit, LedgerError, type LedgerErrorCode, type Shortfall } from "../ledger/ledger.ts";
import type { Balances, SpendLimitUsage } from "../ledger/records.ts";

/** After this many declines of one kind within a second, the next second is answered from memory. */
const DECLINES_MAX = 3;
const WINDOW_MS = 1000;
const SUBJECTS_MAX = 10_000;

const REASONS = [
  "spending_limit_exceeded",
  "insufficient_balance",
  "balance_on_hold",
  "wallet_frozen",
] as const satisfies readonly LedgerErrorCode[];

/** A reason of the ledger, or that the request may cost more than its client allows. */
type DeclineReason = (typeof REASONS)[number] | "max_cost";

/** Why a hold was declined. Every other error of the ledger is a fault of the service. */
export interface Decline {
  readonly reason: DeclineReason;
  /** `undefined` for a frozen wallet, and from an older ledger, which sends no amounts. */
  readonly shortfall: Shortfall | undefined;
  /** The spending limit that had the least left; `undefined` for a wallet, and from an older ledger. */
  readonly limit?: DecliningLimit | undefined;
  /** The owner's name of what the limit binds; `undefined` where it has an id alone. */
  readonly limitName?: string | undefined;
}

/** Returns the decline that a failed hold carries; `undefined` for any other fault. */
export function declineOf(fault: unknown): Decline | undefined {
  if (!(fault instanceof LedgerError)) return undefined;
  const reason = REASONS.find((each) => each === fault.code);
  return reason && { reason, shortfall: fault.shortfall, limit: fault.limit };
}

/** Returns the decline of a request that costs at least `needed`, more than its client allows. */
export function aboveCost(needed: Nanos, costMax: Nanos): Decline {
  return { reason: "max_cost", shortfall: { needed, available: costMax, unheld: costMax } };
}

/** What a hold takes from: a wallet, and the spending limits that bind its key. */
export interface Money {
  readonly wallet: Balances;
  readonly limits: readonly SpendLimitUsage[];
}

/** Returns the decline that a hold of `needed` would meet at these balances; `undefined` when it may be granted. */
export function shortageOf({ wallet, limits }: Money, needed: Nanos): Decline | undefined {
  const tightest = findTightest(limits);
  if (tightest && leftOf(tightest) < needed) {
    const unheld = limits.reduce((least, { amount, used }) => leastOf(least, amount - used), tightest.amount);
    const shortfall = shortfallOf(needed, leftOf(tightest), unheld);
    return { reason: "spending_limit_exceeded", shortfall, limit: describeLimit(tightest) };
  }
  const { available, held } = wallet;
  if (available >= needed) return undefined;
  const unheld = available + held;
  const reason = unheld >= needed ? "balance_on_hold" : "insufficient_balance";
  return { reason, shortfall: shortfallOf(needed, available, unheld) };
}

/** Returns the limit with the least left, as the ledger chooses it: of several, that of the smaller id and subject. */
function findTightest(limits: readonly SpendLimitUsage[]): SpendLimitUsage | undefined {
  const [first, ...others] = limits;
  return others.reduce((one, other) => (first && isTighter(other, one ?? first) ? other : one), first);
}

function isTighter(one: SpendLimitUsage, other: SpendLimitUsage): boolean {
  const [left, otherLeft] = [leftOf(one), leftOf(other)];
  if (left !== otherLeft) return left < otherLeft;
  if (one.limitId !== other.limitId) return one.limitId < other.limitId;
  return (one.subject ?? "") < (other.subject ?? "");
}

function leftOf({ amount, used, held }: SpendLimitUsage): Nanos {
  return amount - used - held;
}

function describeLimit({ limitId, keyId, scope, each, subject }: SpendLimitUsage): DecliningLimit {
  if (each !== undefined && subject !== undefined) return { limitId, scope: { kind: each, id: subject } };
  return { limitId, scope: keyId === undefined ? scope : { kind: "key", id: keyId } };
}

/** Reports a negative remainder as 0. */
function shortfallOf(needed: Nanos, available: Nanos, unheld: Nanos): Shortfall {
  return { needed, available: available > 0n ? available : 0n, unheld: unheld > 0n ? unheld : 0n };
}

/** Chooses the error: nothing is left, too little is left, or enough is left but for open holds. */
export function causeOf({ reason, shortfall }: Decline): Cause {
  if (reason === "wallet_frozen") return "account_suspended";
  if (reason === "max_cost") return "max_cost";
  const isOnHold = shortfall ? shortfall.unheld >= shortfall.needed : reason === "balance_on_hold";
  if (reason !== "spending_limit_exceeded") return isOnHold ? "wallet_on_hold" : "wallet_empty";
  if (isOnHold) return "spending_limit_on_hold";
  return shortfall && shortfall.unheld > 0n ? "spending_limit_short" : "spending_limit";
}

/**
 * Formats a 402: in USD the smallest acceptable grant, and the amount that was available; and the limit that was met,
 * by its kind and the owner's name of it.
 */
export function declineHeaders(decline: Decline, caller: Caller): Record<string, string> {
  const { reason, shortfall } = decline;
  if (!shortfall) return {};
  const met = reason === "max_cost" ? "request" : printLimit(decline, caller);
  return {
    "x-tollgate-needed-usd": printUsd(shortfall.needed),
    "x-tollgate-available-usd": printUsd(shortfall.available),
    ...(met && { "x-tollgate-limit": met }),
  };
}

/** Returns what a limit binds, as its caller sees it: a key that is not its own is one above it. */
export function boundBy({ scope }: DecliningLimit, { key }: Caller): Bound {
  if (!scope) return "account";
  return scope.kind === "key" && scope.id !== key.id ? "parent_key" : scope.kind;
}

/** Prints a limit: "end_user alice", "key research", "account". What is not visible ASCII is percent-encoded. */
function printLimit({ limit, limitName }: Decline, caller: Caller): string | undefined {
  if (!limit?.scope) return limit && "account";
  const { key } = caller;
  const bound = boundBy(limit, caller);
  const id = bound === "run" ? limit.scope.id.slice(key.id.length + 1) : limit.scope.id;
  return `${bound} ${encodeName(bound === "key" ? key.name : (limitName ?? id))}`;
}

function encodeName(name: string): string {
  return name.toWellFormed().replace(/[^!-$&-~]/gu, encodeURIComponent);
}

/** Who asks for a hold. */
interface Spender {
  readonly accountId: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[] | undefined;
}

/** Remembers whose holds were declined, so that a client in a retry loop does not reach the ledger. */
export interface DeclineMemory {
  /**
   * Returns the decline of a hold of at least `needed`, with that amount in it. Returns `undefined` when the
   * ledger declined fewer than three such holds within a second, or might grant this one.
   */
  recall(spender: Spender, needed: Nanos): Decline | undefined;
  /** Remembers a decline for the holds that what declined this one binds as well. */
  note(spender: Spender, decline: Decline): void;
}

/** The scopes that requests of one key differ in. */
const OF_REQUESTS: ReadonlySet<ScopeKind> = new Set(["end_user", "tag", "run"]);

/** Returns the scopes of a request that the others of its key do not have, each as a text. */
function ownScopes({ scopes = [] }: Spender): readonly string[] {
  return scopes.filter(({ kind }) => OF_REQUESTS.has(kind)).map(({ kind, id }) => `${kind}\n${id}`);
}

/** Returns what a decline is remembered for: a key, or what its limit counts, or all of a request. */
function subjectOf(spender: Spender, { reason, limit }: Decline): string {
  const { keyId } = spender;
  if (reason !== "spending_limit_exceeded") return keyId;
  // A ledger of an older version names no limit.
  if (!limit) return [keyId, ...ownScopes(spender)].join("\n");
  const { scope } = limit;
  return scope && OF_REQUESTS.has(scope.kind) ? `${keyId}\n${scope.kind}\n${scope.id}` : keyId;
}

/** Returns everything that a decline of a hold may be remembered for. */
function subjectsOf(spender: Spender): readonly string[] {
  const { keyId } = spender;
  const own = ownScopes(spender);
  return own.length < 2
    ? own.map((each) => `${keyId}\n${each}`)
    : [...own.map((each) => `${keyId}\n${each}`), [keyId, ...own].join("\n")];
}

interface Memory {
  decline: Decline;
  count: number;
  sinceMs: number;
  untilMs: number;
}

/** Creates a memory that is bounded to 10,000 subjects of all accounts. */
export function createDeclineMemory(clock: () => number): DeclineMemory {
  const memories = new TenantMemory<Memory>(SUBJECTS_MAX);
  let sweptAtMs = Number.NEGATIVE_INFINITY;

  function find(accountId: string, subject: string, needed: Nanos): Decline | undefined {
    const memory = memories.get(accountId, subject);
    return memory && clock() < memory.untilMs ? declineFor(memory.decline, needed) : undefined;
  }
  return {
    recall(spender, needed) {
      if (memories.size === 0) return undefined;
      const { accountId } = spender;
      const ofKey = find(accountId, spender.keyId, needed);
      if (ofKey || !spender.scopes) return ofKey;
      for (const subject of subjectsOf(spender)) {
        const decline = find(accountId, subject, needed);
        if (decline) return decline;
      }
      return undefined;
    },
    note(spender, decline) {
      const now = clock();
      const subject = subjectOf(spender, decline);
      let memory = memories.get(spender.accountId, subject);
      if (!memory || now - memory.sinceMs >= WINDOW_MS) {
        if (memories.size >= SUBJECTS_MAX && now - sweptAtMs >= WINDOW_MS) {
          memories.sweep(({ sinceMs, untilMs }) => now - sinceMs >= WINDOW_MS && now >= untilMs);
          sweptAtMs = now;
        }
        memory = { decline, count: 0, sinceMs: now, untilMs: 0 };
        memories.set(spender.accountId, subject, memory);
      }
      memory.decline = decline;
      memory.count += 1;
      if (memory.count >= DECLINES_MAX) memory.untilMs = now + WINDOW_MS;
    },
  };
}

/**
 * Returns the decline of another hold at unchanged balances; `undefined` when that is not certain.
 * A smaller hold may fit. A larger one may exceed a spending limit first.
 */
function declineFor(decline: Decline, needed: Nanos): Decline | undefined {
  const { reason, shortfall } = decline;
  if (reason === "wallet_frozen") return decline;
  if (!shortfall || needed <= shortfall.available) return undefined;
  if (reason !== "spending_limit_exceeded" && needed > shortfall.needed) return undefined;
  return { ...decline, shortfall: { ...shortfall, needed } };
}
