import { type Ledger, LedgerError } from "../../src/ledger/ledger.ts";
import type { Witness } from "./recorder.ts";

/** Another service that holds and settles over gRPC and gives every command again until it is answered. */
export interface LedgerLoad {
  readonly finished: () => number;
  /** Resolves when every command that was given is answered. Throws when one was refused for good. */
  stop(): Promise<void>;
}

const PAUSE_MS = 50;
const GRANT = 1_000_000n;
const OUTCOME = { outcome: "ok", source: "reported", attempts: [] } as const;

/** Acknowledged commands go to the witness as "held ID" and "settled ID AMOUNT", in nano-USD. */
export function startLedgerLoad(
  ledger: Ledger,
  walletId: string,
  workers: number,
  witness: Witness,
): LedgerLoad {
  let isStopped = false;
  let finished = 0;

  const work = async (worker: number) => {
    for (let round = 0; !isStopped; round++) {
      const holdId = Bun.randomUUIDv7();
      const amount = BigInt((worker * 31 + round) % 1_500) * 1_000n;
      await insist(() =>
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
      await witness.note(`held ${holdId}`);
      await insist(() => ledger.settle({ walletId, holdId, amount, facts: OUTCOME }));
      await witness.note(`settled ${holdId} ${amount}`);
      finished += 1;
    }
  };
  const all = Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
  // Whoever stops the load hears of a failure; until then it is nobody's.
  all.catch(() => undefined);

  return {
    finished: () => finished,
    async stop() {
      isStopped = true;
      await all;
    },
  };
}

/** Gives a command again and again while what became of it is not known. */
async function insist<Answer>(give: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await give();
    } catch (error) {
      const mayPass = error instanceof LedgerError && ["unavailable", "queue_full"].includes(error.code);
      if (!mayPass) throw error;
      await Bun.sleep(PAUSE_MS);
    }
  }
}
