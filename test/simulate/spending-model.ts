import type { Database } from "bun:sqlite";
import type { CostsAbove } from "./costs-above.ts";

interface CounterRow {
  readonly wallet_id: string;
  readonly limit_id: string;
  /** The id of its counter: for templates and windows with further lines. */
  readonly counter_id: string | null;
  /** A key's id; of other limits, a text with a line feed. */
  readonly key_id: string | null;
  readonly period: string;
  readonly amount: bigint;
  /** `null` for a limit that nothing counted against yet, like `counted`. */
  readonly period_start_ms: bigint | null;
  readonly counted: bigint | null;
}

/** What was used and held of a limit, and how much of it by costs above holds, as far as it was looked for. */
interface Counted {
  readonly counted: bigint;
  readonly above: bigint;
}

const SELECT = `SELECT l.wallet_id, l.limit_id, c.limit_id AS counter_id, l.key_id, period, amount,
    period_start_ms, used + held AS counted
  FROM spend_limits l LEFT JOIN limit_counters c ON c.wallet_id = l.wallet_id
    AND substr(c.limit_id, 1, instr(c.limit_id || char(10), char(10)) - 1) = l.limit_id
    AND (period = 'total') = (period_start_ms = 0)
  WHERE deleted_at_ms IS NULL`;

/** Knows of each spending limit and period what was held and used, so that no new hold may exceed the limit. */
export class SpendingModel {
  readonly #costsAbove: CostsAbove;
  /** The limits in force, as they were last looked at. */
  #limits = new Map<string, CounterRow>();
  #counters = new Map<string, Counted>();

  constructor(costsAbove: CostsAbove) {
    this.#costsAbove = costsAbove;
  }

  /** Returns the first limit that more was held of than it allows, also than it allowed a moment ago. */
  findExceeded(client: Database): string | undefined {
    const [limits, counters] = [this.#limits, this.#counters];
    this.#limits = new Map();
    this.#counters = new Map();
    let exceeded: string | undefined;
    for (const row of client.query<CounterRow, []>(SELECT).safeIntegers(true).all()) {
      const { wallet_id, limit_id, counter_id, key_id, period, amount, period_start_ms, counted } = row;
      const limit = `${wallet_id} ${limit_id} ${period}`;
      this.#limits.set(limit, row);
      if (counted === null) continue;
      const counter = `${limit} ${counter_id} ${period_start_ms}`;
      const last = counters.get(counter) ?? { counted: 0n, above: 0n };
      const before = limits.get(limit);
      // A new limit begins with what its period has seen. Costs above holds are looked for only where they matter.
      const isLess = !before || counted <= amount || counted <= before.amount || counted <= last.counted;
      const keyId = key_id?.includes("\n") ? undefined : (key_id ?? undefined);
      const above = isLess ? last.above : this.#costsAbove.of(client, wallet_id, keyId);
      this.#counters.set(counter, { counted, above });
      const most = [amount, before?.amount ?? 0n, last.counted - last.above];
      if (!isLess && most.every((allowed) => counted - above > allowed))
        exceeded ??= `limit ${counter}: ${counted} of ${amount} are used and held, ${above} above holds`;
    }
    return exceeded;
  }
}
