import { type Ledger, LedgerError, type OutcomeFacts } from "../ledger/ledger.ts";
import { describeFault, type Log } from "../telemetry/log.ts";

/** So many holds in a row may fail by faults of ours before the gateway doubts that it can take any. */
const FAULTS_MAX = 3;
/** A wallet of its own, whose id no account can have: its holds show whether holds can be taken. */
const PROBE_WALLET = "tollgate-readiness";
const PROBE_TTL_MS = 10_000;
const PROBE_FACTS = { surface: "readiness", model: "none" } as const;
const PROBE_OUTCOME: OutcomeFacts = { outcome: "ok", source: "none", attempts: [] };

/** Whether requests can be paid for, as the latest holds have shown. */
export interface HoldHealth {
  /** A hold was taken. */
  taken(): void;
  /** A hold failed, and no rule of the ledger declined it. */
  failed(fault: unknown): void;
  /**
   * Rejects while holds fail: when three failed in a row, and a hold of nothing, taken now on a wallet of our
   * own, fails too. So a gateway that gets no requests any more recovers by being asked.
   */
  check(): Promise<void>;
}

export interface HoldHealthParts {
  readonly ledger: Ledger;
  readonly log: Log;
  /** A new id for a hold, of the time that requests are named by. */
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

/** Takes a hold as every request does, and frees it again; the wallet is made when the first is taken. */
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
  // One that cannot be freed now expires by itself.
  await ledger.release({ walletId: PROBE_WALLET, holdId, facts: PROBE_OUTCOME }).catch(() => undefined);
}
