// A gateway of the year in a process of its own: it performs acts and jobs until it is killed.
import { connectDatabase } from "../../src/db/database.ts";
import type { DatabaseLocation } from "../../src/db/location.ts";
import { createMails } from "../../src/delivery/mail/mails.ts";
import { createPostgresLedger } from "../../src/ledger/postgres/ledger.ts";
import { createStripeClient } from "../../src/payments/stripe.ts";
import { WEBHOOK_SECRET } from "../support/scripted-stripe.ts";
import type { Act } from "./acts.ts";
import { type Job, runJob, tryAct } from "./desk.ts";
import { openSharedClock } from "./shared-clock.ts";

/** What a gateway is started with. */
export interface GatewaySetup {
  readonly location: DatabaseLocation;
  readonly clockPath: string;
  readonly stripeUrl: string;
}

/** One piece of work, and the number of its answer. */
export interface Work {
  readonly number: number;
  readonly task: { readonly act: Act } | { readonly job: Job };
}

if (import.meta.main) await serve(JSON.parse(Bun.argv[2] ?? "") as GatewaySetup);

async function serve({ location, clockPath, stripeUrl }: GatewaySetup): Promise<void> {
  const clock = openSharedClock(clockPath);
  const now = () => clock.nowMs;
  const database = await connectDatabase(location);
  if (database.dialect !== "postgres") throw new Error("Several gateways need PostgreSQL");
  const ledger = createPostgresLedger({ database: database.postgres, now });
  const quiet = () => undefined;
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const secrets = { secretKey: "sk_test_x", webhookSecret: WEBHOOK_SECRET };
  const stripe = createStripeClient({ ...secrets, apiBase: stripeUrl });
  const parts = { database, ledger, stripe, mails: createMails(database, now), now, log };
  process.on("message", async ({ number, task }: Work) => {
    try {
      const answer = "act" in task ? await tryAct(parts, task.act) : ((await runJob(parts, task.job)) ?? {});
      process.send?.({ number, answer });
    } catch (fault) {
      process.send?.({ number, fault: String(fault) });
    }
  });
  // The test has ended, or was ended.
  process.on("disconnect", () => process.exit());
  process.send?.({ number: 0 });
}
