import { parseArgs } from "node:util";
import type { House, Victim } from "./cluster.ts";
import { startHttpLoad } from "./http-load.ts";
import { startLedgerLoad } from "./ledger-load.ts";
import { openWitness } from "./recorder.ts";
import { openReplicaHouse } from "./replica-cluster.ts";
import { openSingleHouse } from "./single-cluster.ts";
import { verify, verifyNothingIsHeld } from "./verify.ts";

// `bun run crash [--rounds 30] [--house single|replicas] [--victim gateway|ledger|postgres]`: kills each part of a
// running deployment again and again under load, and checks after each time that nothing acknowledged is lost.
const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "30" },
    house: { type: "string" },
    victim: { type: "string" },
  },
});
const HOUSES = { single: openSingleHouse, replicas: openReplicaHouse };
const CLIENTS = 16;
const ALIVE_MS = { least: 200, most: 1_500 };
/** How long a victim stays away: enough for commands to give up waiting now and then. */
const AWAY_MS = { least: 0, most: 3_000 };
const RECOVERY_MS = 30_000;

for (const [name, open] of Object.entries(HOUSES)) {
  if (values.house && values.house !== name) continue;
  const house = await open();
  try {
    for (const victim of house.victims) {
      if (values.victim && values.victim !== victim.name) continue;
      await runRounds(house, victim, Number(values.rounds));
    }
    await verifyNothingIsHeld(house);
    await house.audit();
  } finally {
    await house.close();
  }
}

async function runRounds(house: House, victim: Victim, rounds: number): Promise<void> {
  const witness = openWitness(`${process.env.TMPDIR ?? "/tmp"}/witness-${house.name}-${victim.name}`);
  const recoveries: number[] = [];
  let acknowledged = 0;
  for (let round = 1; round <= rounds; round++) {
    const sinceMs = Date.now();
    const http = startHttpLoad(house.url, house.secret, CLIENTS, witness);
    const direct = house.ledger && startLedgerLoad(house.ledger, house.walletId, CLIENTS, witness);
    await Bun.sleep(between(ALIVE_MS));
    await victim.kill();
    const killedAt = performance.now();
    await Bun.sleep(between(AWAY_MS));
    const startedAt = performance.now();
    await victim.start();
    const awayMs = performance.now() - killedAt;
    await moreOf(http.finished);
    recoveries.push(performance.now() - startedAt);
    await Promise.all([http.stop(), direct?.stop()]);
    const lines = witness.take();
    acknowledged += lines.length;
    await verify(house, lines, { sinceMs, awayMs });
    process.stdout.write(`${house.name}: ${victim.name} killed ${round} times\r`);
  }
  const slowest = Math.max(...recoveries);
  console.log(
    `${house.name}: ${victim.name} killed ${rounds} times; ${acknowledged} acknowledgements, none lost; ` +
      `audit empty after each; serving again after ${slowest.toFixed(0)} ms at the most`,
  );
}

/** Resolves when clients get answers again. */
async function moreOf(count: () => number): Promise<void> {
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
