import { type Ledger, LedgerError, type LedgerErrorCode } from "../ledger/ledger.ts";
import { platform } from "../platform.ts";
import { isRetryable } from "../settlement-outbox/entry.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import type { Meter } from "./meter.ts";
import type { OpenHold } from "./request.ts";

const ENDED: readonly LedgerErrorCode[] = ["hold_settled", "hold_released"];

type HeldMoney = Pick<OpenHold, "walletId" | "holdId">;

/** Keeps the holds of running requests from expiring: extends them every third of their time to live. */
export interface Heartbeats {
  /** Extends a hold, with the cost so far, until disposed. */
  start(hold: HeldMoney, meter: Pick<Meter, "accrued">): Disposable;
  close(): void;
}

/** The heartbeat of one hold. */
class Heartbeat implements Disposable {
  readonly hold: HeldMoney;
  readonly meter: Pick<Meter, "accrued">;
  readonly #live: Set<Heartbeat>;

  constructor(hold: HeldMoney, meter: Pick<Meter, "accrued">, live: Set<Heartbeat>) {
    this.hold = hold;
    this.meter = meter;
    this.#live = live;
    live.add(this);
  }

  [Symbol.dispose](): void {
    this.#live.delete(this);
  }
}

export function createHeartbeats(ledger: Ledger, holdTtlMs: number, log: Log): Heartbeats {
  const live = new Set<Heartbeat>();
  const timer = platform.setInterval(beatAll, holdTtlMs / 3);
  /** Keeps the log to one line when an outage begins and one when it ends. */
  let isLedgerAway = false;

  async function beatAll(): Promise<void> {
    const faults = await Promise.all([...live].map(beat));
    if (faults.length === 0) return;
    const away = faults.find(isRetryable);
    if (away && !isLedgerAway) log.warn(describeFault(away), "heartbeats failed");
    if (!away && isLedgerAway) log.info({}, "heartbeats resumed");
    isLedgerAway = away !== undefined;
  }

  async function beat(heartbeat: Heartbeat): Promise<unknown> {
    const { hold, meter } = heartbeat;
    const { walletId, holdId } = hold;
    try {
      await ledger.extend({ walletId, holdId, accrued: meter.accrued(), ttlMs: holdTtlMs });
    } catch (fault) {
      // A hold may end between its heartbeat and the commit, also before its request has the result.
      if (live.has(heartbeat) && !isRetryable(fault) && !isEnded(fault)) {
        log.warn({ request: holdId, ...describeFault(fault) }, "heartbeat declined");
      }
      return fault;
    }
    return undefined;
  }

  return {
    start: (hold, meter) => new Heartbeat(hold, meter, live),
    close: () => platform.clearInterval(timer),
  };
}

function isEnded(fault: unknown): boolean {
  return fault instanceof LedgerError && ENDED.includes(fault.code);
}
