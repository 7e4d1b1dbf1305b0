import type { SimulatedRequest } from "./clients.ts";
import type { Misfortune, MisfortuneCounts } from "./misfortunes.ts";
import type { Scheduler } from "./scheduler.ts";

/** Misfortunes for which a gateway may answer with an internal error. */
const TROUBLES = [
  "slow_sync",
  "lost_answer",
  "locked_file",
  "full_disk",
  "full_database",
  "failed_sync",
  "link_loses_call",
  "link_loses_answer",
  "link_doubles",
  "link_silent",
  "ledger_drains",
  // Where requests are denied without Redis.
  "redis_silent",
  "redis_loses_command",
  "redis_loses_answer",
  "redis_stalls",
  "redis_restarts",
  "redis_restarts_empty",
  "redis_fails_over",
] as const satisfies readonly Misfortune[];

/** The pause between two heartbeats of a hold. */
const HEARTBEAT_MS = 20_000;

/** What kept a gateway from its ledger, and what may follow from it. */
export class LedgerTroubles {
  readonly #scheduler: Scheduler;
  readonly #counts: MisfortuneCounts;
  /** When a connection to the ledger had trouble. */
  readonly #linkTroubles: number[] = [];
  /** When a message was last under way twice. */
  #doubledAtMs = Number.NEGATIVE_INFINITY;
  /** Whether the process of the ledger ever ended: by itself, or with the power of its machine. */
  #hasLeft = false;
  /** Until when the process of the ledger was away for long. */
  #awayAtMs = Number.NEGATIVE_INFINITY;

  constructor(scheduler: Scheduler, counts: MisfortuneCounts) {
    this.#scheduler = scheduler;
    this.#counts = counts;
  }

  /** A connection to the ledger broke or fell silent. */
  onLink(): void {
    this.#linkTroubles.push(this.#scheduler.monotonicMs);
  }

  /** A message arrives late, after its connection broke and it was sent again. */
  onDoubled(): void {
    this.#doubledAtMs = this.#scheduler.monotonicMs;
  }

  /** The process of the ledger is away for so long. */
  onAway(ms: number): void {
    this.#hasLeft = true;
    if (ms > HEARTBEAT_MS) this.#awayAtMs = this.#scheduler.monotonicMs + ms;
  }

  /** Whether anything happened so far that the ledger may be away for. */
  isAny(): boolean {
    return this.#hasLeft || TROUBLES.some((name) => this.#counts[name] > 0);
  }

  /** A hold outlives two lost heartbeats. */
  mayLoseHeartbeats({ startedAtMs }: SimulatedRequest): boolean {
    const troubles = this.#linkTroubles.filter((atMs) => atMs > startedAtMs).length;
    return troubles > 2 || this.#awayAtMs > startedAtMs;
  }

  /**
   * A hold that was declined may be taken by its first message, which arrives after the second one was answered.
   * Its gateway never learns of it, and asks no upstream.
   */
  mayHoldUnknown({ startedAtMs, asked }: SimulatedRequest): boolean {
    return asked.length === 0 && this.#doubledAtMs >= startedAtMs;
  }
}
