import type { Database } from "bun:sqlite";
import { Violation } from "../model.ts";
import type { World } from "../world.ts";

const DAY_MS = 86_400_000;
/** A pass of a gateway comes every 15 s. */
const PASS_MS = 40_000;

interface SubscriptionRow {
  readonly account: string;
  readonly state: string;
  readonly plan: string;
  readonly nextAtMs: bigint | null;
  readonly nextPeriod: bigint;
}

interface GrantRow {
  readonly id: string;
  readonly period: bigint;
  readonly isRaise: bigint;
  readonly amount: bigint;
  readonly startsAtMs: bigint;
  readonly endsAtMs: bigint;
  readonly expiresAtMs: bigint;
  readonly decidedAtMs: bigint;
  readonly bookedAtMs: bigint | null;
}

const SUBSCRIPTION = `SELECT account_id AS account, state, plan, next_at_ms AS nextAtMs, next_period AS nextPeriod
  FROM subscriptions WHERE id = ?`;
const GRANTS = `SELECT id, period, is_raise AS isRaise, amount, starts_at_ms AS startsAtMs, ends_at_ms AS endsAtMs,
  expires_at_ms AS expiresAtMs, decided_at_ms AS decidedAtMs, booked_at_ms AS bookedAtMs
  FROM plan_grants WHERE subscription_id = ? ORDER BY is_raise, period`;
const BOOKED = `SELECT transfer_id AS id, amount FROM transfers
  WHERE wallet_id = ? AND transfer_id LIKE ? ORDER BY transfer_id`;

/** What subscriptions must have granted: each period once, none before its time, and none not at all. */
export class PlanModel {
  readonly #world: World;
  readonly #ids = new Map<string, { isTouched: boolean; added: bigint }>();
  /** The latest time of the clock. */
  #latestMs = Number.NEGATIVE_INFINITY;

  constructor(world: World) {
    this.#world = world;
  }

  get ids(): readonly string[] {
    return [...this.#ids.keys()];
  }

  add(id: string): void {
    this.#ids.set(id, { isTouched: false, added: 0n });
  }

  /** An operator changes the subscription: its periods are no longer those of its beginning. */
  touch(id: string): void {
    const known = this.#ids.get(id);
    if (known) known.isTouched = true;
  }

  /** Notes the clock. Must be called before it is set back. */
  lookAtClock(): void {
    this.#latestMs = Math.max(this.#latestMs, this.#world.scheduler.wallMs());
  }

  /** Checks when nothing runs every subscription, and adds what was granted to what wallets must have. */
  check(client: Database): void {
    this.lookAtClock();
    for (const id of this.#ids.keys()) {
      const subscription = client.query<SubscriptionRow, [string]>(SUBSCRIPTION).safeIntegers(true).get(id);
      if (!subscription) throw new Violation(`subscription ${id} is gone`);
      const grants = client.query<GrantRow, [string]>(GRANTS).safeIntegers(true).all(id);
      this.#checkPeriods(id, subscription, grants);
      this.#checkJournal(client, { id, walletId: subscription.account }, grants);
    }
  }

  #checkPeriods(
    id: string,
    { state, plan, nextAtMs, nextPeriod }: SubscriptionRow,
    all: readonly GrantRow[],
  ): void {
    const periods = all.filter(({ isRaise }) => isRaise === 0n);
    const about = (text: string) => new Violation(`subscription ${id}: ${text}`);
    if (BigInt(periods.length) !== nextPeriod)
      throw about(`${periods.length} of ${nextPeriod} periods are granted`);
    const { isTouched } = this.#ids.get(id) ?? { isTouched: true };
    for (const [index, grant] of periods.entries()) {
      const { period, startsAtMs, endsAtMs } = grant;
      if (period !== BigInt(index)) throw about(`period ${index} is ${period}`);
      if (Number(startsAtMs) > this.#latestMs) throw about(`period ${index} is granted before its time`);
      const next = periods[index + 1];
      const isGap = next && (isTouched ? next.startsAtMs < endsAtMs : next.startsAtMs !== endsAtMs);
      if (isGap) throw about(`period ${index + 1} begins at ${next.startsAtMs}, after one until ${endsAtMs}`);
      const first = Number(periods[0]?.startsAtMs);
      if (!isTouched && Number(startsAtMs) !== startOf(first, plan, index))
        throw about(`period ${index} begins at ${startsAtMs}`);
    }
    for (const { expiresAtMs, endsAtMs, decidedAtMs } of all)
      if (expiresAtMs < endsAtMs || expiresAtMs <= decidedAtMs)
        throw about(`a credit ends at ${expiresAtMs}`);
    const isDue = nextAtMs !== null && Number(nextAtMs) < this.#world.scheduler.wallMs() - PASS_MS;
    if (isDue) throw about(`is ${state}, and its period of ${nextAtMs} is not granted`);
  }

  #checkJournal(
    client: Database,
    { id, walletId }: { readonly id: string; readonly walletId: string },
    grants: readonly GrantRow[],
  ): void {
    const booked = client
      .query<Pick<GrantRow, "id" | "amount">, [string, string]>(BOOKED)
      .safeIntegers(true)
      .all(walletId, `plan-${id}-%`);
    const expected = grants.filter(({ amount }) => amount > 0n);
    const shown = (rows: readonly Pick<GrantRow, "id" | "amount">[]) =>
      rows
        .map((row) => `${row.id} ${row.amount}`)
        .sort()
        .join(", ");
    if (shown(booked) !== shown(expected))
      throw new Violation(`wallet ${walletId} has the grants ${shown(booked)}, not ${shown(expected)}`);
    const open = grants.find(({ bookedAtMs }) => bookedAtMs === null);
    if (open) throw new Violation(`grant ${open.id} is not recorded as booked`);
    const known = this.#ids.get(id);
    const total = expected.reduce((sum, { amount }) => sum + amount, 0n);
    if (!known || total === known.added) return;
    this.#world.model.topUp(walletId, total - known.added);
    known.added = total;
  }
}

/** The beginning of a period in UTC, by the calendar of tests. */
function startOf(firstMs: number, plan: string, index: number): number {
  const { period }: { readonly period: string } = JSON.parse(plan);
  if (period !== "month") return firstMs + index * Number.parseInt(period, 10) * DAY_MS;
  const first = new Date(firstMs);
  const [year, month] = [first.getUTCFullYear(), first.getUTCMonth() + index];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(first.getUTCDate(), lastDay)) + (firstMs % DAY_MS);
}
