import type { Database } from "bun:sqlite";
import type { CostsAbove } from "./costs-above.ts";

interface LimitRow {
  readonly limit: string;
  readonly amount: bigint;
}

/** A counter of which more is used and held than its limit allows. */
interface CounterRow extends LimitRow {
  readonly wallet_id: string;
  /** A key's id; of other limits, a text with a line feed. */
  readonly key_id: string | null;
  readonly counter: string;
  readonly counted: bigint;
}

/** What was used and held of a limit, and how much of it by costs above holds, as far as it was looked for. */
interface Counted {
  readonly counted: bigint;
  readonly above: bigint;
}

const LIMIT = "l.wallet_id || ' ' || l.limit_id || ' ' || l.period";
/** Differs whenever a limit was set, changed or deleted. */
const LIMITS_STATE = `SELECT count(*) || ' ' || count(deleted_at_ms) || ' ' || total(amount * (rowid % 97 + 1)) AS state
  FROM spend_limits`;
const LIMITS = `SELECT ${LIMIT} AS "limit", amount FROM spend_limits AS l WHERE deleted_at_ms IS NULL`;
/** The counters of a limit have its id as their first line. */
const EXCEEDED = `SELECT ${LIMIT} AS "limit", l.wallet_id, key_id, amount, used + held AS counted,
    c.limit_id || ' ' || c.period_start_ms AS counter
  FROM spend_limits AS l JOIN limit_counters AS c ON c.wallet_id = l.wallet_id
    AND c.limit_id >= l.limit_id AND c.limit_id < l.limit_id || char(11)
    AND (period = 'total') = (period_start_ms = 0)
  WHERE deleted_at_ms IS NULL AND used + held > amount`;

/** Knows of each spending limit and period what was held and used, so that no new hold may exceed the limit. */
export class SpendingModel {
  readonly #costsAbove: CostsAbove;
  #state = "";
  /** The amounts of the limits in force, as they were last looked at. */
  #amounts: ReadonlyMap<string, bigint> = new Map();
  /** The counters that were above their limits. */
  #counters = new Map<string, Counted>();

  constructor(costsAbove: CostsAbove) {
    this.#costsAbove = costsAbove;
  }

  /** Returns the first limit that more was held of than it allows, also than it allowed a moment ago. */
  findExceeded(client: Database): string | undefined {
    const before = this.#amounts;
    this.#amounts = this.#readAmounts(client);
    const counters = this.#counters;
    this.#counters = new Map();
    let exceeded: string | undefined;
    for (const row of client.query<CounterRow, []>(EXCEEDED).safeIntegers(true).all()) {
      const { wallet_id, limit, key_id, counter: name, amount, counted } = row;
      const counter = `${limit} ${name}`;
      const last = counters.get(counter) ?? { counted: 0n, above: 0n };
      const allowed = before.get(limit);
      // A new limit begins with what its period has seen. Costs above holds are looked for only where they matter.
      const isLess = allowed === undefined || counted <= allowed || counted <= last.counted;
      const keyId = key_id?.includes("\n") ? undefined : (key_id ?? undefined);
      const above = isLess ? last.above : this.#costsAbove.of(client, wallet_id, keyId);
      this.#counters.set(counter, { counted, above });
      const most = [amount, allowed ?? 0n, last.counted - last.above];
      if (!isLess && most.every((each) => counted - above > each))
        exceeded ??= `limit ${counter}: ${counted} of ${amount} are used and held, ${above} above holds`;
    }
    return exceeded;
  }

  /** Most commits change no limit. */
  #readAmounts(client: Database): ReadonlyMap<string, bigint> {
    const state = client.query<{ state: string }, []>(LIMITS_STATE).get()?.state ?? "";
    if (state === this.#state) return this.#amounts;
    this.#state = state;
    const rows = client.query<LimitRow, []>(LIMITS).safeIntegers(true).all();
    return new Map(rows.map(({ limit, amount }) => [limit, amount]));
  }
}
