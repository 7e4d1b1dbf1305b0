import type { Database } from "bun:sqlite";

interface CounterRow {
  readonly walletId: string;
  readonly limitId: string;
  readonly keyId: string | null;
  readonly period: string;
  readonly amount: bigint;
  /** `null` for a limit that nothing counted against yet, like `counted`. */
  readonly periodStartMs: bigint | null;
  readonly counted: bigint | null;
}

/** A limit of a period as it was last looked at. */
interface Seen {
  readonly amount: bigint;
  /** What holds took of it. */
  readonly taken: bigint;
}

/** Knows of each spending limit and period what was held and used, so that no new hold may exceed the limit. */
export class SpendingModel {
  readonly #counters;
  readonly #aboveHolds;
  /** The limits in force by limit and period, and their counters by the start of the period, too. */
  #seen = new Map<string, Seen>();

  constructor(client: Database) {
    this.#counters = client
      .query<CounterRow, []>(
        `SELECT wallet_id AS walletId, limit_id AS limitId, key_id AS keyId, period, amount,
          period_start_ms AS periodStartMs, used + held AS counted
          FROM spend_limits LEFT JOIN limit_counters USING (wallet_id, limit_id) WHERE deleted_at_ms IS NULL`,
      )
      .safeIntegers(true);
    // Costs above their holds, and costs of holds that had expired before.
    this.#aboveHolds = client
      .query<{ above: bigint | null }, [string, string | null]>(
        `SELECT sum(CASE WHEN late = 1 THEN captured ELSE max(captured - granted, 0) END) AS above
          FROM holds WHERE wallet_id = ?1 AND key_id = coalesce(?2, key_id)`,
      )
      .safeIntegers(true);
  }

  /** Returns the first limit that more was held of than it allows, also than it allowed a moment ago. */
  findExceeded(): string | undefined {
    const before = this.#seen;
    this.#seen = new Map();
    let exceeded: string | undefined;
    for (const row of this.#counters.all()) {
      const limit = `${row.limitId} ${row.period}`;
      const counter = `${limit} ${row.periodStartMs}`;
      const counted = row.counted ?? 0n;
      const amountBefore = before.get(limit)?.amount ?? row.amount;
      const isWithin = counted <= row.amount || counted <= amountBefore;
      const taken = isWithin ? counted : counted - this.#above(row);
      this.#seen.set(limit, { amount: row.amount, taken });
      this.#seen.set(counter, { amount: row.amount, taken });
      // A new limit begins with what its period has seen.
      if (!before.has(limit)) continue;
      const allowed = [row.amount, amountBefore, before.get(counter)?.taken ?? 0n];
      if (allowed.every((amount) => taken > amount)) {
        exceeded ??= `limit ${counter}: ${counted} of ${row.amount} are used and held, ${taken} by holds`;
      }
    }
    return exceeded;
  }

  #above({ walletId, keyId }: CounterRow): bigint {
    return this.#aboveHolds.get(walletId, keyId)?.above ?? 0n;
  }
}
