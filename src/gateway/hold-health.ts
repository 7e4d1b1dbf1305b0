import { type Ledger, LedgerError } from "../ledger/ledger.ts";
import type { OutcomeFacts } from "../ledger/records.ts";
import { describeFault, type Log } from "../telemetry/log.ts";

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
