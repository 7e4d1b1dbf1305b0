import { type Ledger, LedgerError, type Settlement } from "../../src/ledger/ledger.ts";

/** A ledger that can be told not to end holds. */
export interface FickleLedger extends Ledger {
  /** `here` asks the real one; `away` refuses as `unavailable`; `silent` never answers. */
  is: "here" | "away" | "silent";
  /** Holds of which it knows no answer, whatever it is otherwise. */
  readonly broken: Set<string>;
  /** How often it was asked to end a hold. */
  readonly asked: number;
}

export function fickle(real: Ledger): FickleLedger {
  let asked = 0;
  const broken = new Set<string>();

  function end(holdId: string, really: () => Promise<Settlement>): Promise<Settlement> {
    asked += 1;
    if (ledger.is === "silent") return new Promise(() => undefined);
    if (ledger.is === "away") return Promise.reject(new LedgerError("unavailable"));
    return broken.has(holdId) ? Promise.reject(new TypeError("broken")) : really();
  }

  const ledger: FickleLedger = {
    ...real,
    is: "here",
    broken,
    get asked() {
      return asked;
    },
    settle: (request) => end(request.holdId, () => real.settle(request)),
    release: (request) => end(request.holdId, () => real.release(request)),
  };
  return ledger;
}
