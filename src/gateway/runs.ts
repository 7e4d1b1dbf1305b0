import { DAY_MS } from "../domain/id-time.ts";
import type { Nanos } from "../domain/money.ts";
import { scopeOfRun } from "../domain/scope.ts";
import { TenantMemory } from "../domain/tenant-memory.ts";
import { GatewayError } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { platform } from "../platform.ts";
import type { Runs } from "./scopes.ts";

/** The runs of a UTC day whose limits are known to be set. One that was forgotten is looked up again. */
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
  readonly store: (
    run: BegunRun,
  ) => Promise<{ readonly limitId: string; readonly amount: Nanos } | undefined>;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/**
 * Creates the runs of a gateway. Requests that begin one run at a time wait for one limit. Each day a run is stored
 * anew: a run that is not is removed after some weeks.
 */
export function createRuns({ ledger, store, now = platform.now }: RunParts): Runs {
  const known = new TenantMemory<{ readonly setting: Promise<void> | undefined }>(RUNS_MAX);
  let knownDay = 0;

  async function setLimit(run: BegunRun): Promise<void> {
    const stored = await store(run);
    if (stored === undefined) throw new GatewayError("too_many_runs");
    const { limitId, amount } = stored;
    const { accountId: walletId, keyId } = run;
    const scope = scopeOfRun(run);
    const limits = await ledger.spendLimits(walletId, keyId, [scope]);
    if (limits.some((limit) => limit.limitId === limitId)) return;
    const binding = { walletId, limitId, keyId: undefined, scope };
    // Read on the way of a request: what came before is not looked for.
    await ledger.setSpendLimit({ ...binding, period: "total", amount, countsFromNow: true });
  }

  return {
    begin(key, runId, amount) {
      const day = Math.floor(now() / DAY_MS);
      if (day !== knownDay) known.clear();
      knownDay = day;
      const { accountId, id: keyId } = key;
      const name = `${keyId}:${runId}`;
      const found = known.get(accountId, name);
      if (found) return found.setting;
      const setting = setLimit({ accountId, keyId, runId, amount }).then(
        () => {
          if (day === knownDay) known.set(accountId, name, KNOWN);
        },
        (fault: unknown) => {
          known.delete(accountId, name);
          throw fault;
        },
      );
      known.set(accountId, name, { setting });
      return setting;
    },
  };
}

const KNOWN = { setting: undefined };
