import type { ApiKey } from "../accounts/keys/key.ts";
import type { Nanos } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Runs, runScope } from "./scopes.ts";

/** The runs whose limits are known to be set. One that was forgotten is looked up again. */
const RUNS_MAX = 10_000;

/** A run, and the limit that its request asks for. */
interface BegunRun {
  readonly accountId: string;
  readonly keyId: string;
  readonly runId: string;
  readonly amount: Nanos;
}

interface RunParts {
  readonly ledger: Pick<Ledger, "spendLimits" | "setSpendLimit">;
  /** Stores a run and returns the limit that it began with; `undefined` for one too many. */
  readonly store: (run: BegunRun) => Promise<Nanos | undefined>;
}

/** The id of the limit of a run. */
function limitIdOf({ keyId, runId }: Pick<BegunRun, "keyId" | "runId">): string {
  return `run:${keyId}:${runId}`;
}

/** Creates the runs of a gateway. Requests that begin one run at a time wait for one limit. */
export function createRuns({ ledger, store }: RunParts): Runs {
  const known = new Map<string, Promise<void> | undefined>();

  async function setLimit(key: ApiKey, run: BegunRun): Promise<void> {
    const amount = await store(run);
    if (amount === undefined) throw new GatewayError("too_many_runs");
    const { accountId: walletId, keyId } = run;
    const limitId = limitIdOf(run);
    const scope = runScope(key, run.runId);
    const limits = await ledger.spendLimits(walletId, keyId, [scope]);
    if (limits.some((limit) => limit.limitId === limitId)) return;
    await ledger.setSpendLimit({ walletId, limitId, keyId: undefined, scope, period: "total", amount });
  }

  return {
    begin(key, runId, amount) {
      const run = { accountId: key.accountId, keyId: key.id, runId, amount };
      const limitId = limitIdOf(run);
      if (known.has(limitId)) return known.get(limitId);
      const [oldest] = known.keys();
      if (known.size >= RUNS_MAX && oldest !== undefined) known.delete(oldest);
      const setting = setLimit(key, run).then(
        () => void known.set(limitId, undefined),
        (fault: unknown) => {
          known.delete(limitId);
          throw fault;
        },
      );
      known.set(limitId, setting);
      return setting;
    },
  };
}
