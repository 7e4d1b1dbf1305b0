import { and, asc, gt, isNotNull, isNull, lte, sql } from "drizzle-orm";
import { GatewayError } from "../errors.ts";
import { LedgerError } from "../ledger/ledger.ts";
import { repeat } from "../platform.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import type { PlanMetrics } from "../telemetry/plan-metrics.ts";
import { alignLimits, bookGrant, type PlanParts } from "./booking.ts";
import { readGrant } from "./subscription.ts";
import { advanceSubscription } from "./subscriptions.ts";

const PASS_MS = 15_000;
/** Rows of one query of a pass. */
const PAGE_SIZE = 100;

interface PassParts extends PlanParts {
  readonly log: Log;
  /** Default: nothing is counted. */
  readonly metrics?: PlanMetrics | undefined;
}

/**
 * Begins the periods of all subscriptions that are due, books the credits that the ledger has not taken, and aligns
 * spending limits. Safe in any number of processes at once, and after a crash at any step.
 */
export async function runPlanPass(parts: PassParts): Promise<void> {
  const { database } = parts;
  const { subscriptions, planGrants } = database.tables;
  const nowMs = parts.now();
  await eachRow(
    (after) =>
      database.db
        .select({ id: subscriptions.id })
        .from(subscriptions)
        .where(
          and(
            isNotNull(subscriptions.nextAtMs),
            lte(subscriptions.nextAtMs, nowMs),
            gt(subscriptions.id, after),
          ),
        )
        .orderBy(asc(subscriptions.id))
        .limit(PAGE_SIZE),
    ({ id }) =>
      attempt(parts, { subscription: id }, async () => {
        const periods = await advanceSubscription(parts, id);
        parts.metrics?.granted(periods);
      }),
  );
  await eachRow(
    (after) =>
      database.db
        .select()
        .from(planGrants)
        .where(and(isNull(planGrants.bookedAtMs), gt(planGrants.id, after)))
        .orderBy(asc(planGrants.id))
        .limit(PAGE_SIZE),
    (row) => attempt(parts, { grant: row.id }, () => bookGrant(parts, readGrant(row))),
  );
  await eachRow(
    (after) =>
      database.db
        .select({ id: subscriptions.id })
        .from(subscriptions)
        .where(and(sql`applied_version < version`, gt(subscriptions.id, after)))
        .orderBy(asc(subscriptions.id))
        .limit(PAGE_SIZE),
    ({ id }) => attempt(parts, { subscription: id }, () => alignLimits(parts, id)),
  );
}

/** Handles every row, page by page in the order of ids. */
async function eachRow<Row extends { readonly id: string }>(
  read: (after: string) => Promise<readonly Row[]>,
  handle: (row: Row) => Promise<void>,
): Promise<void> {
  for (let after = ""; ; ) {
    const rows = await read(after);
    for (const row of rows) await handle(row);
    const last = rows.at(-1);
    if (!last || rows.length < PAGE_SIZE) return;
    after = last.id;
  }
}

/** One subscription that fails must not hold up the others: the next pass repeats it. */
async function attempt(
  { log, metrics }: PassParts,
  what: object,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    // Another process is at it.
    if (thrown instanceof GatewayError && thrown.kind === "conflict") return;
    metrics?.failed();
    const code = thrown instanceof LedgerError ? thrown.code : undefined;
    log.warn({ ...what, ledgerCode: code, ...describeFault(thrown) }, "plan step failed");
  }
}

/** Runs passes every 15 s until it is closed. `close` resolves when a running pass has ended. */
export function startPlanPasses(parts: PassParts): { close(): Promise<void> } {
  return repeat({
    everyMs: PASS_MS,
    run: () => runPlanPass(parts),
    onFault(fault) {
      parts.metrics?.failed();
      parts.log.warn(describeFault(fault), "plan pass failed");
    },
  });
}
