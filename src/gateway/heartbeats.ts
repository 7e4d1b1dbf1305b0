import type { Nanos } from "../domain/money.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { describeFault, type Log } from "../telemetry/log.ts";

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
  const timer = setInterval(() => {
    for (const hold of live.values()) beat(hold);
  }, holdTtlMs / 3);

  function beat(hold: LiveHold): void {
    const { walletId, holdId } = hold;
    ledger.extend({ walletId, holdId, accrued: hold.accrued(), ttlMs: holdTtlMs }).catch((fault) => {
      // A hold that ended between the beat and its commit is no news.
      if (live.has(holdId)) log.warn({ request: holdId, ...describeFault(fault) }, "heartbeat refused");
    });
  }

  return {
    start: (hold) => void live.set(hold.holdId, hold),
    stop: (holdId) => void live.delete(holdId),
    close: () => clearInterval(timer),
  };
}
