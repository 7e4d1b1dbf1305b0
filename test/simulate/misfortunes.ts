import { drawWeighted } from "../support/seeded-random.ts";
import type { Scheduler } from "./scheduler.ts";

/** What may go wrong, each with the probability per chance that it gets in a run where it may happen. */
export const MISFORTUNES = {
  // An upstream.
  upstream_late: { chance: 0.03, does: "an upstream answers after the limit of its first output" },
  upstream_never: { chance: 0.02, does: "an upstream never answers" },
  upstream_refuses: { chance: 0.03, does: "an upstream refuses the connection" },
  upstream_resets: { chance: 0.03, does: "an upstream resets the connection before it answers" },
  upstream_error: { chance: 0.06, does: "an upstream answers with an error" },
  upstream_half: { chance: 0.04, does: "an upstream resets the connection in the middle of an answer" },
  upstream_unfinished: { chance: 0.02, does: "an upstream ends an answer without its finish" },
  upstream_stalls: { chance: 0.02, does: "an upstream falls silent in the middle of an answer" },
  upstream_lies: { chance: 0.05, does: "an upstream reports usage that cannot be" },
  upstream_silent_usage: { chance: 0.04, does: "an upstream reports no usage" },
  upstream_empty: { chance: 0.03, does: "an upstream generates nothing readable" },
  upstream_hangs: { chance: 0.05, does: "an upstream keeps the connection open after its last event" },
  // A client.
  client_leaves: { chance: 0.1, does: "a client leaves" },
  client_reads_slowly: { chance: 0.1, does: "a client reads slowly" },
  // A gateway, chances per call of an upstream, write to a client, or second.
  death_between_steps: { chance: 0.004, does: "a gateway dies between two steps" },
  death_at_a_call: { chance: 0.002, does: "a gateway dies as it calls an upstream" },
  death_at_a_write: { chance: 0.0005, does: "a gateway dies as it writes to a client" },
  death_at_an_end: { chance: 0.05, does: "a gateway dies as a credit ends" },
  sweep_missed: { chance: 0.2, does: "a sweep of holds and credits does not happen" },
  drain: { chance: 0.002, does: "a gateway is stopped in an orderly way" },
  power_loss: { chance: 0.01, does: "power is lost: what was not synced is gone" },
  // The disk, chances per sync or second.
  slow_sync: { chance: 0.01, does: "a sync of a log takes up to 2 s" },
  lost_answer: { chance: 0.003, does: "a commit is synced after its caller gave up" },
  locked_file: { chance: 0.004, does: "another process locks the database for seconds" },
  failed_sync: { chance: 0.001, does: "a sync of a log fails, and each later one of its process" },
  full_database: { chance: 0.004, does: "the disk of the database is full for a while" },
  full_disk: { chance: 0.004, does: "the disk of the settlement outbox is full for a while" },
  // The network to the ledger, chances per call.
  link_loses_call: { chance: 0.005, does: "a command is lost on its way to the ledger" },
  link_loses_answer: { chance: 0.005, does: "an answer of the ledger is lost" },
  link_doubles: { chance: 0.005, does: "a command arrives late, after its connection broke" },
  link_silent: { chance: 0.003, does: "a connection to the ledger is silent for up to 20 s" },
  // The process of the ledger, chances per second.
  ledger_dies: { chance: 0.004, does: "the ledger dies, and starts again alone" },
  ledger_drains: { chance: 0.003, does: "the ledger is stopped in an orderly way" },
  // Redis, chances per command or second.
  redis_silent: { chance: 0.001, does: "the network to Redis is silent for up to 6 s" },
  redis_loses_command: { chance: 0.002, does: "a connection to Redis breaks, and a command is lost" },
  redis_loses_answer: { chance: 0.002, does: "a connection to Redis breaks after a command was executed" },
  redis_stalls: { chance: 0.004, does: "Redis executes nothing for up to 4 s" },
  redis_restarts: { chance: 0.003, does: "Redis restarts with its data" },
  redis_restarts_empty: { chance: 0.003, does: "Redis restarts without its data" },
  redis_fails_over: { chance: 0.003, does: "Redis is replaced by a replica that lacks the last second" },
  // The clock, chances per second.
  clock_forward: { chance: 0.0015, does: "the wall clock jumps forward" },
  clock_back: { chance: 0.0015, does: "the wall clock jumps back" },
  // The machines, chances per night.
  suspended_night: { chance: 0.4, does: "all machines are suspended for a night" },
  clock_leaps: { chance: 0.005, does: "the wall clock is days ahead for a part of a night" },
  // Retention, chances per transaction.
  dropping_dies: { chance: 0.05, does: "the worker dies that drops old receipts" },
  dropping_slow: { chance: 0.05, does: "the worker that drops old receipts is out of time" },
  // The receiver of a webhook, chances per call.
  receiver_late: { chance: 0.1, does: "the receiver of a webhook answers too late" },
  receiver_refuses: { chance: 0.1, does: "the receiver of a webhook refuses the connection" },
  receiver_error: { chance: 0.1, does: "the receiver of a webhook answers with an error" },
  receiver_never: { chance: 0.1, does: "the receiver of a webhook never answers" },
  // The receiver of an export, chances per batch.
  sink_refuses: { chance: 0.05, does: "the receiver of an export refuses a batch" },
  sink_takes_half: { chance: 0.05, does: "the receiver of an export takes a part of a batch, and fails" },
  sink_loses_answer: {
    chance: 0.05,
    does: "the receiver of an export takes a batch, and its answer is lost",
  },
  sink_late: { chance: 0.03, does: "the receiver of an export takes a batch, and answers too late" },
  // Operators, chances per second.
  refund: { chance: 0.05, does: "an operator refunds a request" },
  credit_granted: { chance: 0.08, does: "an operator grants a credit" },
  correction: { chance: 0.02, does: "an operator takes money off a wallet" },
  key_created: { chance: 0.005, does: "a key is created" },
  key_rotated: { chance: 0.005, does: "the secret of a key is rotated" },
  old_secret_ended: { chance: 0.003, does: "the secret of a key before its rotation is ended" },
  key_limits_changed: { chance: 0.01, does: "the limits of a key change" },
  key_expiry_changed: { chance: 0.003, does: "a key gets another expiry" },
  spending_limit_changed: { chance: 0.01, does: "the spending limit of a key changes" },
  key_revoked: { chance: 0.005, does: "a key is revoked" },
  child_made: { chance: 0.05, does: "a key makes a key below it" },
  project_archived: { chance: 0.01, does: "a project is archived, and may be restored" },
  project_limit_changed: { chance: 0.01, does: "the spending limit of a project changes" },
  prices_changed: { chance: 0.01, does: "the prices of a model change" },
  routes_changed: { chance: 0.005, does: "upstreams, routes and models appear or vanish" },
  timeouts_changed: { chance: 0.003, does: "the timeouts of an upstream change" },
  pool_changed: { chance: 0.003, does: "the keys of an upstream change" },
  limits_changed: { chance: 0.005, does: "the configured limits of keys and accounts change" },
  disconnect_changed: { chance: 0.003, does: "what a client pays that leaves early changes" },
  start_setting_changed: { chance: 0.003, does: "a setting changes that applies at the next start" },
  wallet_frozen: { chance: 0.003, does: "a wallet is frozen for a while" },
} as const;

export type Misfortune = keyof typeof MISFORTUNES;

export const MISFORTUNE_NAMES = Object.keys(MISFORTUNES) as readonly Misfortune[];

/** What a real Redis cannot take part in: its keys expire by its own clock, and it has no replica. */
export const NOT_ON_REAL_REDIS: readonly Misfortune[] = ["clock_back", "clock_leaps", "redis_fails_over"];

/** Of each kind, how often it happened. */
export type MisfortuneCounts = Record<Misfortune, number>;

export function noMisfortunes(): MisfortuneCounts {
  return Object.fromEntries(MISFORTUNE_NAMES.map((name) => [name, 0])) as MisfortuneCounts;
}

/** Which kinds of misfortune may happen in a run. Default: those that its seed chooses. */
export interface Kinds {
  readonly without?: readonly Misfortune[] | undefined;
  readonly often?: boolean | undefined;
}

/**
 * Decides what goes wrong. Each seed chooses which kinds may happen, because runs in which everything fails hide
 * what one kind does alone.
 */
export class Luck {
  readonly counts: MisfortuneCounts;
  /** Off while a run ends: what is left must then come to rest. */
  isOn = true;
  readonly #scheduler: Scheduler;
  readonly #chances: ReadonlyMap<Misfortune, number>;

  /**
   * Kinds of `without` never happen; with `often`, all others do. What the seed draws is the same, so that a run
   * changes where one is missing.
   */
  constructor(scheduler: Scheduler, counts: MisfortuneCounts, { without = [], often = false }: Kinds = {}) {
    const { draw } = scheduler;
    this.#scheduler = scheduler;
    this.counts = counts;
    this.#chances = new Map(
      MISFORTUNE_NAMES.map((name) => {
        const { factor: drawn } = drawWeighted(draw, FACTORS);
        const factor = without.includes(name) ? 0 : often ? OFTEN : drawn;
        return [name, Math.min(0.5, MISFORTUNES[name].chance * factor)];
      }),
    );
  }

  /** Whether a misfortune happens now. `times` multiplies its chance. */
  strikes(name: Misfortune, times = 1): boolean {
    if (this.#scheduler.draw() >= (this.#chances.get(name) ?? 0) * times || !this.isOn) return false;
    this.counts[name] += 1;
    this.#scheduler.note(`misfortune ${name}`);
    return true;
  }

  /** Returns the first of these misfortunes that happens now. */
  oneOf<Name extends Misfortune>(names: readonly Name[]): Name | undefined {
    return names.find((name) => this.strikes(name));
  }
}

const OFTEN = 4;
const FACTORS = [
  { factor: 0, weight: 3 },
  { factor: 1, weight: 4 },
  { factor: OFTEN, weight: 2 },
];
