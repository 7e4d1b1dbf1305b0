import { type Ledger, LedgerError, type Settlement } from "../../src/ledger/ledger.ts";

/** A ledger whose settlements and releases can be made to fail. */
export interface UnreliableLedger extends Ledger {
  /** `here` calls the real ledger; `away` rejects as `unavailable`; `silent` never completes. */
  mode: "here" | "away" | "silent";
  /** Ids of holds whose settlement or release rejects with a TypeError. */
  readonly broken: Set<string>;
  /** The number of settlements and releases so far. */
  readonly calls: number;
}

export function createUnreliableLedger(real: Ledger): UnreliableLedger {
  let calls = 0;
  const broken = new Set<string>();

  function end(holdId: string, callReal: () => Promise<Settlement>): Promise<Settlement> {
    calls += 1;
    if (ledger.mode === "silent") return new Promise(() => undefined);
    if (ledger.mode === "away") return Promise.reject(new LedgerError("unavailable"));
    return broken.has(holdId) ? Promise.reject(new TypeError("broken")) : callReal();
  }

  const ledger: UnreliableLedger = {
    ...real,
    mode: "here",
    broken,
    get calls() {
      return calls;
    },
    settle: (request) => end(request.holdId, () => real.settle(request)),
    release: (request) => end(request.holdId, () => real.release(request)),
  };
  return ledger;
}
