import { type Ledger, LedgerError, type LedgerErrorCode } from "../ledger/ledger.ts";
import type { OutcomeFacts } from "../ledger/records.ts";
import { isRetryable } from "../settlement-outbox/entry.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import type { Meter, OpenHold } from "./request.ts";

/** After this many faults in a row, readiness depends on a probe. */
const FAULTS_MAX = 3;
/** The wallet of the probes; no account can have this id. */
const PROBE_WALLET = "tollgate-readiness";
const PROBE_TTL_MS = 10_000;
const PROBE_FACTS = { surface: "readiness", model: "none" } as const;
const PROBE_OUTCOME: OutcomeFacts = { outcome: "ok", source: "none", attempts: [] };

/** Whether holds succeed, judged by those of the latest requests. */
export interface HoldHealth {
  /** Records a hold that succeeded. */
  taken(): void;
  /** Records a hold that failed by a fault of the service, not by a decline. */
  failed(fault: unknown): void;
  /**
   * Rejects while holds fail: after three faults in a row, when a probe fails as well. The probe is a hold of
   * 0 USD. Without requests, the checks alone detect that holds succeed again.
   */
  check(): Promise<void>;
}

interface HoldHealthParts {
  readonly ledger: Ledger;
  readonly log: Log;
  /** Creates the id of a probe, a UUIDv7 as of a request. */
  newId(): string;
}

export function createHoldHealth({ ledger, log, newId }: HoldHealthParts): HoldHealth {
  let faults = 0;
  let probe: Promise<void> | undefined;

  function taken(): void {
    if (faults >= FAULTS_MAX) log.info({}, "holds succeed again");
    faults = 0;
  }
  function failed(fault: unknown): void {
    faults += 1;
    if (faults === FAULTS_MAX) log.error(describeFault(fault), "holds fail");
  }
  async function takeProbe(): Promise<void> {
    try {
      await holdNothing(ledger, newId());
      taken();
    } finally {
      probe = undefined;
    }
  }

  return {
    taken,
    failed,
    async check() {
      if (faults < FAULTS_MAX) return;
      probe ??= takeProbe();
      await probe;
    },
  };
}

/** Takes a hold of zero and releases it. Creates the wallet of the readiness probe when it does not exist. */
async function holdNothing(ledger: Ledger, holdId: string): Promise<void> {
  const hold = () =>
    ledger.hold({
      walletId: PROBE_WALLET,
      holdId,
      keyId: PROBE_WALLET,
      amount: 0n,
      minimum: 0n,
      ttlMs: PROBE_TTL_MS,
      facts: PROBE_FACTS,
    });
  await hold().catch(async (fault: unknown) => {
    if (!(fault instanceof LedgerError) || fault.code !== "wallet_not_found") throw fault;
    await ledger.createWallet(PROBE_WALLET);
    await hold();
  });
  // A probe that cannot be released expires.
  await ledger.release({ walletId: PROBE_WALLET, holdId, facts: PROBE_OUTCOME }).catch(() => undefined);
}

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
  const timer = setInterval(beatAll, holdTtlMs / 3);
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
    close: () => clearInterval(timer),
  };
}

function isEnded(fault: unknown): boolean {
  return fault instanceof LedgerError && ENDED.includes(fault.code);
}
