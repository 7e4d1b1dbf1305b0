import type { Ledger } from "../../src/ledger/ledger.ts";
import type { Recorder } from "./recorder.ts";
import { retry } from "./retry.ts";

/** A service that holds and settles over gRPC, and repeats every command until it is answered. */
export interface LedgerLoad {
  readonly finished: () => number;
  /** Resolves when every submitted command is answered. Throws when one was declined. */
  stop(): Promise<void>;
}

const GRANT = 1_000_000n;
const OUTCOME = { outcome: "ok", source: "reported", attempts: [] } as const;

/** Starts workers. Acknowledged commands are recorded as "held ID" and "settled ID AMOUNT", in nano-USD. */
export function startLedgerLoad(
  ledger: Ledger,
  walletId: string,
  workers: number,
  recorder: Recorder,
): LedgerLoad {
  let isStopped = false;
  let finished = 0;

  const work = async (worker: number) => {
    for (let round = 0; !isStopped; round++) {
      const holdId = Bun.randomUUIDv7();
      const amount = BigInt((worker * 31 + round) % 1_500) * 1_000n;
      await retry(() =>
        ledger.hold({
          walletId,
          holdId,
          keyId: "service",
          amount: GRANT,
          minimum: GRANT,
          ttlMs: 60_000,
          facts: { surface: "grpc", model: "" },
        }),
      );
      await recorder.record(`held ${holdId}`);
      await retry(() => ledger.settle({ walletId, holdId, amount, facts: OUTCOME }));
      await recorder.record(`settled ${holdId} ${amount}`);
      finished += 1;
    }
  };
  const all = Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
  // `stop` rejects with a failure; until then it must not count as unhandled.
  all.catch(() => undefined);

  return {
    finished: () => finished,
    async stop() {
      isStopped = true;
      await all;
    },
  };
}
