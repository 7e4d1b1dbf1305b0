import type { Database } from "bun:sqlite";
import type { NoticeRule } from "../../src/notices/rule.ts";
import { Violation } from "./model.ts";
import type { Scheduler } from "./scheduler.ts";

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
/** The pass of a watch, after the lease of one that died. */
const NOTICED_MS_MAX = 120 * SECOND_MS;
/** A limit that changes without a request is looked at in every twentieth pass. */
const REREAD_MS_MAX = 450 * SECOND_MS;
/** A threshold must not be crossed for a minute, and the watch may have changed hands. */
const ENDED_MS_MAX = 240 * SECOND_MS;
/** An episode ends when its threshold was not crossed for so long. */
const CALM_MS = 60 * SECOND_MS;
/** Between a reading of money and the notice that it raises. */
const RAISED_MS_MAX = 20 * SECOND_MS;
/** Three tries with their pauses, each by a process that may have died. */
const DELIVERED_MS_MAX = 20 * 60 * SECOND_MS;
const TRIES_MAX = 3;

/** A threshold of one subject, as the database has it. */
interface Threshold {
  /** Since when it has been crossed without an end; `undefined` while it is not. */
  sinceMs: number | undefined;
  /** Whether its limit changed as it was crossed, so that only a full pass finds it. */
  isByLimit: boolean;
  /** When it was last crossed, or last not. */
  changedAtMs: number;
  /** When its latest notice was seen, and how far the clock had been set. */
  noticedAtMs: number;
  noticedShiftMs: number;
}

/** One webhook call at its receiver. */
interface Call {
  readonly body: string;
  count: number;
  isAccepted: boolean;
}

interface LimitRow {
  readonly key_id: string;
  readonly amount: bigint;
  readonly taken: bigint;
}

/**
 * The limits of keys that no key made, and those of single projects, members and end users, which are their own
 * subjects.
 */
const LIMITS = `SELECT coalesce(k.id, l.limit_id) AS key_id, amount, coalesce(used + held, 0) AS taken
  FROM spend_limits l LEFT JOIN api_keys k ON k.id = l.key_id AND k.parent_id IS NULL
    LEFT JOIN limit_counters c ON c.wallet_id = l.wallet_id AND c.limit_id = l.limit_id
      AND c.period_start_ms = CASE period WHEN 'total' THEN 0 ELSE ?2 END
  WHERE l.wallet_id = ?1 AND deleted_at_ms IS NULL AND revoked_at_ms IS NULL AND each_kind IS NULL
    AND (k.id IS NOT NULL OR (instr(l.key_id, char(10)) > 0 AND l.key_id NOT LIKE 'run' || char(10) || '%'))`;

/** Without what has ended and is not booked yet, as far as no hold claims it. */
const AVAILABLE = `SELECT posted - held - CASE WHEN mixed THEN max(0, due - max(0, held - kept)) ELSE 0 END AS available
  FROM wallets w LEFT JOIN (
    SELECT wallet_id, coalesce(sum(left_amount) FILTER (WHERE claims IS NULL AND expires_at_ms <= ?2), 0) AS due,
      coalesce(sum(left_amount) FILTER (WHERE claims IS NOT NULL), 0) AS kept
    FROM credits WHERE wallet_id = ?1) USING (wallet_id)
  WHERE w.wallet_id = ?1`;

/** Knows when thresholds are crossed, which notices that must raise, and what a receiver got of them. */
export class NoticeModel {
  readonly #scheduler: Scheduler;
  readonly #report: (claim: string) => void;
  readonly #rules: NoticeRule[] = [];
  /** By rule and subject. */
  readonly #thresholds = new Map<string, Threshold>();
  readonly #amounts = new Map<string, bigint>();
  readonly #notices = new Set<string>();
  readonly #calls = new Map<string, Call>();
  #client: Database | undefined;

  /** `report` is called inside of the simulated program, which would catch an error. */
  constructor(scheduler: Scheduler, report: (claim: string) => void) {
    this.#scheduler = scheduler;
    this.#report = report;
  }

  add(rule: NoticeRule): void {
    this.#rules.push(rule);
  }

  /** A receiver gets a call: each of one id must have one body. */
  receive(id: string, body: string): Call {
    const call = this.#calls.get(id) ?? { body, count: 0, isAccepted: false };
    this.#calls.set(id, call);
    call.count += 1;
    if (call.body !== body) this.#report(`webhook ${id} was sent with two bodies`);
    if (call.count > TRIES_MAX) this.#report(`webhook ${id} was sent ${call.count} times`);
    return call;
  }

  /** Looks at the database after a change. Throws a {@link Violation}. */
  look(client: Database): void {
    this.#client = client;
    for (const rule of this.#rules) {
      if (rule.kind === "balance_below") {
        const isCrossed = isLow(client, rule, this.#scheduler.wallMs());
        this.#note(rule, rule.accountId, isCrossed, false);
      }
      if (rule.kind === "key_limit") this.#lookAtLimits(client, rule);
    }
    this.#lookAtNotices(client);
  }

  #lookAtLimits(client: Database, rule: Extract<NoticeRule, { readonly percent: bigint }>): void {
    const dayMs = Math.floor(this.#scheduler.wallMs() / DAY_MS) * DAY_MS;
    const limits = client
      .query<LimitRow, [string, number]>(LIMITS)
      .safeIntegers(true)
      .all(rule.accountId, dayMs);
    for (const { key_id, amount, taken } of limits) {
      const isFull = (taken * 100n) / amount >= rule.percent;
      this.#note(rule, key_id, isFull, this.#amounts.get(key_id) !== amount);
    }
    for (const { key_id, amount } of limits) this.#amounts.set(key_id, amount);
    for (const [name] of this.#thresholds) {
      const [ruleId, subject = ""] = name.split(" ");
      if (ruleId === rule.id && !limits.some(({ key_id }) => key_id === subject))
        this.#note(rule, subject, false, true);
    }
  }

  #note({ id }: NoticeRule, subject: string, isCrossed: boolean, isByLimit: boolean): void {
    const name = `${id} ${subject}`;
    const { monotonicMs: nowMs } = this.#scheduler;
    const known = this.#thresholds.get(name);
    if (known && isCrossed === (known.sinceMs !== undefined)) return;
    const sinceMs = isCrossed ? nowMs : undefined;
    const { noticedAtMs = Number.NEGATIVE_INFINITY, noticedShiftMs = 0 } = known ?? {};
    this.#thresholds.set(name, { sinceMs, isByLimit, changedAtMs: nowMs, noticedAtMs, noticedShiftMs });
  }

  #lookAtNotices(client: Database): void {
    const { monotonicMs: nowMs } = this.#scheduler;
    for (const [id, ruleId, subject] of client.query("SELECT id, rule_id, subject FROM notices").values()) {
      if (this.#notices.has(String(id))) continue;
      this.#notices.add(String(id));
      const name = `${ruleId} ${subject}`;
      const threshold = this.#thresholds.get(name);
      if (!threshold) throw new Violation(`notice ${id} is of no threshold`);
      const { sinceMs, changedAtMs, noticedAtMs } = threshold;
      if (sinceMs === undefined && changedAtMs < nowMs - RAISED_MS_MAX)
        throw new Violation(`notice ${id} was raised, and ${name} is not crossed`);
      if (sinceMs !== undefined && sinceMs <= noticedAtMs)
        throw new Violation(`notice ${id} is the second of one crossing of ${name}`);
      const isClockKept = threshold.noticedShiftMs === this.#scheduler.shiftMs;
      if (isClockKept && nowMs - noticedAtMs < CALM_MS)
        throw new Violation(`notice ${id} came within a minute of the one before it, of ${name}`);
      threshold.noticedAtMs = nowMs;
      threshold.noticedShiftMs = this.#scheduler.shiftMs;
    }
  }

  /** Checks what must be there when nothing has run for minutes. Throws a {@link Violation}. */
  checkAtRest(): void {
    const client = this.#client;
    if (!client) return;
    const { monotonicMs: nowMs } = this.#scheduler;
    const open = new Set(
      client
        .query("SELECT rule_id, subject FROM open_notices")
        .values()
        .map(([id, subject]) => `${id} ${subject}`),
    );
    for (const [name, { sinceMs, isByLimit, changedAtMs }] of this.#thresholds) {
      const noticedMs = nowMs - (isByLimit ? REREAD_MS_MAX : NOTICED_MS_MAX);
      if (sinceMs !== undefined && sinceMs < noticedMs && !open.has(name))
        throw new Violation(`${name} has been crossed for ${nowMs - sinceMs} ms without a notice`);
      if (sinceMs === undefined && changedAtMs < nowMs - ENDED_MS_MAX && open.has(name))
        throw new Violation(`the notice of ${name} has no end`);
    }
    this.#checkDeliveries(client);
  }

  #checkDeliveries(client: Database): void {
    const nowMs = this.#scheduler.wallMs();
    const rows = client
      .query(
        "SELECT id, attempts, created_at_ms, next_at_ms, delivered_at_ms, failed_at_ms FROM webhook_calls",
      )
      .values();
    for (const [id, attempts, createdAtMs, nextAtMs, deliveredAtMs, failedAtMs] of rows) {
      const call = this.#calls.get(String(id));
      if (deliveredAtMs !== null && !call?.isAccepted) throw new Violation(`webhook ${id} was not delivered`);
      const ends = [nextAtMs, deliveredAtMs, failedAtMs].filter((atMs) => atMs !== null);
      if (ends.length !== 1) throw new Violation(`webhook ${id} has ${ends.length} ends`);
      if (failedAtMs !== null && Number(attempts) < TRIES_MAX)
        throw new Violation(`webhook ${id} was given up after ${attempts} tries`);
      if (nextAtMs !== null && Number(createdAtMs) < nowMs - DELIVERED_MS_MAX)
        throw new Violation(`webhook ${id} still waits`);
    }
  }
}

function isLow(
  client: Database,
  { accountId, balance }: Extract<NoticeRule, { readonly balance: bigint }>,
  nowMs: number,
): boolean {
  const [row] = client
    .query<{ available: bigint }, [string, number]>(AVAILABLE)
    .safeIntegers(true)
    .all(accountId, nowMs);
  return row !== undefined && row.available < balance;
}
