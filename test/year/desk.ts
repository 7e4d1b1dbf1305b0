import { count, lte } from "drizzle-orm";
import { GatewayError } from "../../src/errors.ts";
import { LedgerError } from "../../src/ledger/ledger.ts";
import { runAutoTopUps } from "../../src/payments/auto-job.ts";
import { sweepPayments } from "../../src/payments/sweep.ts";
import { reconcile } from "../../src/plans/billing/reconcile.ts";
import { runPlanPass } from "../../src/plans/pass.ts";
import { type Act, type ActAnswer, type ActParts, billingOf, perform } from "./acts.ts";

/** The background work of a gateway. */
export type Job = "sweep" | "plans" | "payments" | "auto" | "billing";

/** An act that the program declined, by its code. */
export interface Declined {
  readonly declined: string;
}

/** Where the acts of a year go. */
export interface Desk {
  /** Resolves when the act is done, whatever died meanwhile. */
  act(act: Act): Promise<ActAnswer | Declined>;
  /** Runs a job until it has nothing left to do. */
  run(job: Job): Promise<void>;
  /** Lets the ledger be away for plans, or lose its answers. A desk of several gateways cannot. */
  trouble?(kind: "away" | "lost" | "none"): void;
}

/** Performs an act. A decline is an answer, and any other fault is thrown. */
export async function tryAct(parts: ActParts, act: Act): Promise<ActAnswer | Declined> {
  try {
    return await perform(parts, act);
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.kind !== "internal") return { declined: thrown.kind };
    if (thrown instanceof LedgerError && thrown.code !== "unavailable") return { declined: thrown.code };
    throw thrown;
  }
}

/** Runs a job once, as a gateway does at its time. */
export async function runJob(parts: ActParts, job: Job): Promise<void> {
  switch (job) {
    case "sweep":
      while ((await parts.ledger.sweep()) > 0);
      return;
    case "plans":
      return runPlanPass(parts);
    case "payments":
      await sweepPayments(parts);
      return;
    case "billing":
      do await reconcile(billingOf(parts));
      while ((await countUnread(parts)) > 0);
      return;
    case "auto":
      return runAutoTopUps({ ...parts, isOffered: () => true, returnUrl: () => "https://t.example.com/" });
  }
}

/** The orders that must be read at Stripe now. */
async function countUnread({ database: { db, tables }, now }: ActParts): Promise<number> {
  const { planOrders } = tables;
  const [row] = await db
    .select({ rows: count() })
    .from(planOrders)
    .where(lte(planOrders.nextReadAtMs, now()));
  return row?.rows ?? 0;
}

/** What a pass of automatic top-ups could change. */
export async function readAuto({ database: { db, tables } }: Pick<ActParts, "database">): Promise<string> {
  const { autoTopUps, autoPayments } = tables;
  const states = await db.select({ state: autoTopUps.state }).from(autoTopUps).orderBy(autoTopUps.accountId);
  const [counts] = await db
    .select({
      made: count(),
      credited: count(autoPayments.creditedAtMs),
      failed: count(autoPayments.failedAtMs),
    })
    .from(autoPayments);
  return JSON.stringify([states, counts]);
}

/** One gateway in this process. */
export function createLocalDesk(parts: ActParts): Desk {
  let trouble: "away" | "lost" | "none" = "none";
  const topUp: ActParts["ledger"]["topUp"] = async (request) => {
    if (trouble === "away") throw new LedgerError("unavailable");
    const posting = await parts.ledger.topUp(request);
    if (trouble === "lost") throw new LedgerError("unavailable");
    return posting;
  };
  const troubled = { ...parts, ledger: { ...parts.ledger, topUp } };
  return {
    act: (act) => tryAct(parts, act),
    async run(job) {
      if (job === "plans") await Promise.all([runJob(troubled, job), runJob(troubled, job)]);
      if (job !== "auto") return runJob(troubled, job);
      // Each pass of automatic top-ups makes at most one payment for an account.
      for (let before = ""; ; ) {
        await runJob(troubled, job);
        const after = await readAuto(parts);
        if (after === before) return;
        before = after;
      }
    },
    trouble(kind) {
      trouble = kind;
    },
  };
}
