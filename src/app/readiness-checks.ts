import type { Database } from "../db/database.ts";
import type { HoldHealth } from "../gateway/hold-health.ts";
import type { Check, CheckResult } from "../http/readiness.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Limiter } from "../limiter/limiter.ts";
import { checkOutboxDisk } from "../settlement-outbox/disk.ts";

interface CheckedParts {
  readonly database: Database;
  readonly ledger: Ledger;
  readonly holdHealth: HoldHealth;
  readonly limiter: Limiter;
  readonly outbox: { pending(): number };
  readonly dataFolder: string;
}

/** Returns the checks of /readyz, by part. */
export function createReadinessChecks(parts: CheckedParts): Readonly<Record<string, Check>> {
  const { database, ledger, holdHealth, limiter, outbox, dataFolder } = parts;
  return {
    database: () => database.ping().then(succeed),
    ledger: () => ledger.ping().then(() => holdHealth.check().then(succeed, () => fail("holds_fail"))),
    limiter: () => checkLimiter(limiter),
    outbox: once(async () => {
      const { freeBytes, problem } = await checkOutboxDisk(dataFolder);
      return { ok: !problem, reason: problem, entries: outbox.pending(), free_bytes: freeBytes };
    }),
  };
}

const succeed = (): CheckResult => ({ ok: true });
const fail = (reason: string): CheckResult => ({ ok: false, reason });

/** A gateway that counts alone is ready: `local` is what the configuration asks for while Redis is away. */
async function checkLimiter(limiter: Limiter): Promise<CheckResult> {
  const { backend, mode } = await limiter.status();
  if (backend === "memory") return { ok: true, mode: "local", reason: "no_redis_configured" };
  if (mode === "shared") return { ok: true, mode: "redis" };
  return { ok: mode === "local", mode: mode === "local" ? "local" : "deny", reason: "redis_away" };
}

/** Runs a check once at a time: a disk that hangs must not collect waiting threads. */
function once(check: Check): Check {
  let running: Promise<CheckResult> | undefined;
  return () => {
    running ??= check().finally(() => {
      running = undefined;
    });
    return running;
  };
}
