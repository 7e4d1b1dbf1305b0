import type { Nanos } from "../../domain/money.ts";
import { isCalendar, periodStart, windowMs } from "../../domain/period.ts";
import type { Scope, ScopeKind } from "../../domain/scope.ts";
import type { DecliningLimit, Shortfall } from "../ledger.ts";
import type { SpendLimit } from "../records.ts";
import { type Book, balancesOf, type CounterKey, type StoredLimit } from "./book.ts";
import type { Declined } from "./command.ts";
import { counterOf, type Money } from "./resolve.ts";
import { bindingOf, bindingsOf, counterIdOf, NO_SCOPES, type Spender, subjectsOf } from "./spender.ts";
import { bindingStart, NO_WINDOWS } from "./window.ts";

/** A limit that binds a hold or charge, in the period the hold or charge would count against. */
export interface BoundLimit {
  readonly limit: SpendLimit;
  /** The id of the scope that a template counts; `undefined` for other limits. */
  readonly subject: string | undefined;
  readonly key: CounterKey;
}

/** The largest amount that a hold could reserve now. */
export interface Headroom {
  /** The smaller of `wallet.left` and `limits.left`. */
  readonly least: Nanos;
  readonly wallet: Remainder;
  /** The smallest remainder of all limits; `undefined` without limits. */
  readonly limits: (Remainder & { readonly tightest: BoundLimit }) | undefined;
}

/** The amount left now, and the amount that would be left without open holds. Negative when overdrawn. */
interface Remainder {
  readonly left: Nanos;
  readonly unheld: Nanos;
}

const NONE: readonly never[] = [];

/** Finds which limits of a book bind what spends. A spender is looked up several times in a batch. */
export class LimitsInForce {
  readonly #limits: ReadonlyMap<string, StoredLimit>;
  /** The limits in force by what they bind; `undefined` since a limit changed. */
  #byBinding: ReadonlyMap<string | undefined, readonly StoredLimit[]> | undefined;
  /** The kinds of scopes that limits in force bind. */
  #kinds: ReadonlySet<ScopeKind | undefined> = new Set();
  /** By key id, what binds spenders without scopes. */
  readonly #ofKeys = new Map<string, readonly StoredLimit[]>();
  /** What binds the spenders with scopes of this batch. */
  readonly #ofScopes = new Map<Spender, readonly StoredLimit[]>();

  /** Limits are by id; deleted ones are not in force. */
  constructor(limits: ReadonlyMap<string, StoredLimit>) {
    this.#limits = limits;
  }

  /** Returns the limits that bind a spender, those of the whole wallet included, sorted by id. */
  of(spender: Spender): readonly StoredLimit[] {
    if (this.#limits.size === 0) return NONE;
    const hasScopes = spender.scopes !== undefined && spender.scopes.length > 0;
    const known = hasScopes ? this.#ofScopes.get(spender) : this.#ofKeys.get(spender.keyId);
    if (known) return known;
    const found = this.#find(spender);
    if (hasScopes) this.#ofScopes.set(spender, found);
    else this.#ofKeys.set(spender.keyId, found);
    return found;
  }

  /** Must be called when a limit changed. */
  forget(): void {
    this.#byBinding = undefined;
    this.#ofKeys.clear();
    this.#ofScopes.clear();
  }

  /** Must be called when a batch starts: its spenders are others. */
  startBatch(): void {
    this.#ofScopes.clear();
  }

  #find({ keyId, scopes = NO_SCOPES }: Spender): readonly StoredLimit[] {
    const byBinding = this.#group();
    const found = [...(byBinding.get(undefined) ?? NONE)];
    for (const binding of bindingsOf({ keyId, scopes: scopes.filter(this.#mayBind) }))
      found.push(...(byBinding.get(binding) ?? NONE));
    found.sort((one, other) => (one.limitId < other.limitId ? -1 : 1));
    // A key may be above itself.
    return found.filter((limit, i) => limit !== found[i - 1]);
  }

  readonly #mayBind = ({ kind }: Scope) => kind === "parent_key" || this.#kinds.has(kind);

  #group(): ReadonlyMap<string | undefined, readonly StoredLimit[]> {
    if (this.#byBinding) return this.#byBinding;
    const inForce = [...this.#limits.values()].filter(({ deletedAtMs }) => deletedAtMs === undefined);
    this.#kinds = new Set(inForce.map(({ scope }) => scope?.kind));
    this.#byBinding = Map.groupBy(inForce, bindingOf);
    return this.#byBinding;
  }
}

/** The limits in force that bind a spender, with those of the whole wallet, sorted by id. */
export function limitsOf(book: Book, spender: Spender, nowMs: number): readonly BoundLimit[] {
  const inForce = book.limitsInForce(spender);
  return inForce.length === 0 ? NONE : bind(book, inForce, { spender, nowMs });
}

/** Returns the counters of limits that bind a spender. */
export function bind(
  book: Pick<Book, "windowStarts">,
  limits: Iterable<SpendLimit>,
  { spender, nowMs }: { readonly spender: Spender; readonly nowMs: number },
): readonly BoundLimit[] {
  const bound: BoundLimit[] = [];
  for (const limit of limits) {
    for (const subject of subjectsOf(limit, spender)) {
      const counterId = counterIdOf(limit, subject);
      const periodStartMs = startOfPeriod(book, limit, { counterId, nowMs });
      bound.push({ limit, subject, key: { counterId, periodStartMs } });
    }
  }
  return bound;
}

/** Returns the start of a counter's period. Where no window binds, one begins now. */
function startOfPeriod(
  { windowStarts }: Pick<Book, "windowStarts">,
  { period, timeZone }: Pick<SpendLimit, "period" | "timeZone">,
  { counterId, nowMs }: { readonly counterId: string; readonly nowMs: number },
): number {
  if (isCalendar(period)) return periodStart(period, nowMs, timeZone);
  return bindingStart(windowStarts.get(counterId) ?? NO_WINDOWS, windowMs(period), nowMs) ?? nowMs;
}

export function headroomOf(money: Money, bound: readonly BoundLimit[]): Headroom {
  const { available, held } = balancesOf(money.wallet);
  let limits: Headroom["limits"];
  for (const each of bound) {
    const { used, held: heldByLimit } = counterOf(money, each.key);
    const unheld = each.limit.amount - used;
    const left = unheld - heldByLimit;
    const isTightest =
      !limits || left < limits.left || (left === limits.left && isBefore(each, limits.tightest));
    limits = {
      left: isTightest || !limits ? left : limits.left,
      unheld: limits && limits.unheld < unheld ? limits.unheld : unheld,
      tightest: isTightest || !limits ? each : limits.tightest,
    };
  }
  const least = limits !== undefined && limits.left < available ? limits.left : available;
  return { least, wallet: { left: available, unheld: available + held }, limits };
}

function isBefore(one: BoundLimit, other: BoundLimit): boolean {
  return one.key.counterId < other.key.counterId;
}

/** Returns the decline for headroom below `minimum`. A limit's decline takes precedence over the wallet's. */
export function declineForHeadroom({ limits, wallet }: Headroom, minimum: Nanos): Declined {
  if (limits !== undefined && limits.left < minimum) {
    const shortfall = shortfallOf(limits, minimum);
    return { declined: "spending_limit_exceeded", shortfall, limit: describe(limits.tightest) };
  }
  const declined = wallet.unheld >= minimum ? "balance_on_hold" : "insufficient_balance";
  return { declined, shortfall: shortfallOf(wallet, minimum) };
}

function describe({ limit: { limitId, keyId, scope, each }, subject }: BoundLimit): DecliningLimit {
  if (each !== undefined && subject !== undefined) return { limitId, scope: { kind: each, id: subject } };
  return { limitId, scope: keyId === undefined ? scope : { kind: "key", id: keyId } };
}

/** Reports a negative remainder as 0. */
function shortfallOf({ left, unheld }: Remainder, needed: Nanos): Shortfall {
  return { needed, available: left > 0n ? left : 0n, unheld: unheld > 0n ? unheld : 0n };
}
