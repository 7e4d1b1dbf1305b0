import type { Nanos } from "../domain/money.ts";
import { type Ledger, LedgerError, type LedgerRefusal } from "../ledger/ledger.ts";
import { isRetryable } from "../settlement-outbox/entry.ts";
import { describeFault, type Log } from "../telemetry/log.ts";

const ENDED: readonly LedgerRefusal[] = ["hold_settled", "hold_released"];

/** An open hold and what its request has cost so far. */
interface LiveHold {
  readonly walletId: string;
  readonly holdId: string;
  accrued(): Nanos;
}

/** Keeps the holds of running requests from expiring, all in one turn every third of their time. */
export interface Heartbeats {
  start(hold: LiveHold): void;
  stop(holdId: string): void;
  close(): void;
}

export function createHeartbeats(ledger: Ledger, holdTtlMs: number, log: Log): Heartbeats {
  const live = new Map<string, LiveHold>();
  const timer = setInterval(beatAll, holdTtlMs / 3);
  /** Said once when it begins and once when it is over: every hold of every turn would say the same. */
  let isLedgerAway = false;

  async function beatAll(): Promise<void> {
    const faults = await Promise.all([...live.values()].map(beat));
    if (faults.length === 0) return;
    const away = faults.find(isRetryable);
    if (away && !isLedgerAway) log.warn(describeFault(away), "heartbeats fail");
    if (!away && isLedgerAway) log.info({}, "heartbeats go on");
    isLedgerAway = away !== undefined;
  }

  async function beat(hold: LiveHold): Promise<unknown> {
    const { walletId, holdId } = hold;
    try {
      await ledger.extend({ walletId, holdId, accrued: hold.accrued(), ttlMs: holdTtlMs });
    } catch (fault) {
      // A hold that ended between the beat and its commit is no news, also before that was said here.
      if (live.has(holdId) && !isRetryable(fault) && !isEnded(fault)) {
        log.warn({ request: holdId, ...describeFault(fault) }, "heartbeat refused");
      }
      return fault;
    }
    return undefined;
  }

  return {
    start: (hold) => void live.set(hold.holdId, hold),
    stop: (holdId) => void live.delete(holdId),
    close: () => clearInterval(timer),
  };
}

function isEnded(fault: unknown): boolean {
  return fault instanceof LedgerError && ENDED.includes(fault.refusal);
}
