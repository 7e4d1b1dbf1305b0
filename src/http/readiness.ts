import { within } from "../platform.ts";

/** The result of one check: whether requests can be served, why not, and details as /readyz prints them. */
export interface CheckResult {
  readonly ok: boolean;
  /** A word such as "no_answer"; never text of a fault, which may name hosts. */
  readonly reason?: string | undefined;
  readonly [detail: string]: string | number | boolean | undefined;
}

/** Inspects one part of the gateway. A rejection counts as a failed check. */
export type Check = () => Promise<CheckResult>;

/** The results of all checks, by part. */
export interface Readiness {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, CheckResult>>;
}

export interface ReadinessOptions {
  /** Called with the failed parts when they differ from those of the run before; empty when all succeed again. */
  readonly onChange?: (failed: readonly string[]) => void;
  /** The time limit of each check. Default: 2,000. */
  readonly checkMsMax?: number;
  /** How long a result is shared. Default: 500. */
  readonly sharedMs?: number;
}

/** How long one result is shared: requests to an open route must not load the dependencies. */
const SHARED_MS = 500;
/** A part that takes longer has failed. */
const CHECK_MS_MAX = 2_000;

/**
 * Returns a function that runs all checks side by side, each with its own time limit: a part that hangs hides
 * no other part. Shares a result for 500 ms.
 */
export function createReadiness(
  checks: Readonly<Record<string, Check>>,
  { onChange, checkMsMax = CHECK_MS_MAX, sharedMs = SHARED_MS }: ReadinessOptions = {},
): () => Promise<Readiness> {
  let latest: { readonly atMs: number; readonly result: Promise<Readiness> } | undefined;
  let failedBefore = "";

  async function runAll(): Promise<Readiness> {
    const results = await Promise.all(
      Object.entries(checks).map(async ([part, check]) => [part, await runOne(check, checkMsMax)] as const),
    );
    const failed = results.flatMap(([part, { ok }]) => (ok ? [] : [part]));
    if (failed.join() !== failedBefore) onChange?.(failed);
    failedBefore = failed.join();
    return { isReady: failed.length === 0, checks: Object.fromEntries(results) };
  }

  return () => {
    const nowMs = performance.now();
    if (!latest || nowMs - latest.atMs >= sharedMs) latest = { atMs: nowMs, result: runAll() };
    return latest.result;
  };
}

function runOne(check: Check, msMax: number): Promise<CheckResult> {
  const result = check().catch(() => ({ ok: false, reason: "failed" }));
  return within(msMax, result, () => ({ ok: false, reason: "no_answer" }));
}
