import { parseArgs } from "node:util";
import type { Cluster, KillTarget } from "./cluster.ts";
import { type CreditedWallet, startCreditLoad, verifyCredits } from "./credit-load.ts";
import { startHttpLoad } from "./http-load.ts";
import { startLedgerLoad } from "./ledger-load.ts";
import { openRecorder } from "./recorder.ts";
import { openReplicaCluster } from "./replica-cluster.ts";
import { openSingleCluster } from "./single-cluster.ts";
import { verify, verifyNothingIsHeld } from "./verify.ts";

// `bun run crash [--rounds 30] [--cluster single|replicas] [--target gateway|ledger|postgres]`: kills each
// process of a running cluster repeatedly under load, and checks after each kill that nothing acknowledged is
// lost.
const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "30" },
    cluster: { type: "string" },
    target: { type: "string" },
  },
});
const CLUSTERS = { single: openSingleCluster, replicas: openReplicaCluster };
const CLIENTS = 16;
const ALIVE_MS = { least: 200, most: 1_500 };
/** How long a killed process stays down: long enough that some commands give up. */
const AWAY_MS = { least: 0, most: 3_000 };
const RECOVERY_MS = 30_000;
/** When the last credits have ended, and were swept. */
const ENDS_MS = 15_000;

for (const [name, open] of Object.entries(CLUSTERS)) {
  if (values.cluster && values.cluster !== name) continue;
  const cluster = await open();
  try {
    for (const target of cluster.killTargets) {
      if (values.target && values.target !== target.name) continue;
      await runRounds(cluster, target, Number(values.rounds));
    }
    await verifyNothingIsHeld(cluster);
    await cluster.audit();
  } finally {
    await cluster.close();
  }
}

async function runRounds(cluster: Cluster, target: KillTarget, rounds: number): Promise<void> {
  const recorder = openRecorder(`${process.env.TMPDIR ?? "/tmp"}/recorder-${cluster.name}-${target.name}`);
  const recoveries: number[] = [];
  const credited: CreditedWallet[] = [];
  let acknowledged = 0;
  for (let round = 1; round <= rounds; round++) {
    const sinceMs = Date.now();
    const http = startHttpLoad(cluster.url, cluster.secret, CLIENTS, recorder);
    const direct = cluster.ledger && startLedgerLoad(cluster.ledger, cluster.walletId, CLIENTS, recorder);
    const credits = cluster.ledger && startCreditLoad(cluster.ledger, recorder);
    await Bun.sleep(between(ALIVE_MS));
    await target.kill();
    const killedAt = performance.now();
    await Bun.sleep(between(AWAY_MS));
    const startedAt = performance.now();
    await target.start();
    const awayMs = performance.now() - killedAt;
    await untilMore(http.finished);
    recoveries.push(performance.now() - startedAt);
    const [wallet] = await Promise.all([credits?.stop(), http.stop(), direct?.stop()]);
    if (wallet) credited.push(wallet);
    const lines = recorder.take();
    acknowledged += lines.length;
    await verify(cluster, lines, { sinceMs, awayMs });
    process.stdout.write(`${cluster.name}: ${target.name} killed ${round} times\r`);
  }
  await Bun.sleep(ENDS_MS);
  for (const wallet of credited) if (cluster.ledger) await verifyCredits(cluster.ledger, wallet);
  const slowest = Math.max(...recoveries);
  console.log(
    `${cluster.name}: ${target.name} killed ${rounds} times; ${acknowledged} acknowledgements, none lost; ` +
      `audit without findings after each; ${credited.length} wallets of credits add up; serving again after ${slowest.toFixed(0)} ms at most`,
  );
}

/** Resolves when clients receive answers again. Throws after 30 s. */
async function untilMore(count: () => number): Promise<void> {
  const before = count();
  const deadline = performance.now() + RECOVERY_MS;
  while (count() < before + CLIENTS) {
    if (performance.now() > deadline) throw new Error(`No answers ${RECOVERY_MS} ms after the restart`);
    await Bun.sleep(10);
  }
}

function between({ least, most }: { readonly least: number; readonly most: number }): number {
  return least + Math.random() * (most - least);
}
